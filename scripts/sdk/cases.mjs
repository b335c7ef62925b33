// Runs cases against the daemon of DYN_URL and tells what came of each; the
// same lines as cases.py.
import assert from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'

export const URL_ = process.env.DYN_URL
export const CITIES = [{ city: 'Lyon' }, { city: 'Metz' }]
export const WEATHER = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false }

export const same = (got, want, what) => assert.deepEqual(got, want, what)
export const holds = (x, what) => assert.ok(x, what)

// refused expects an error of this class whose text has the words.
export async function refused(call, error, ...words) {
  let got
  try {
    got = await call()
  } catch (e) {
    holds(e instanceof error, `${e.constructor.name}: ${e.message}`)
    for (const w of words) holds(String(e.message).includes(w), `the error does not say "${w}": ${e.message}`)
    return e
  }
  assert.fail(`no ${error.name}, but ${JSON.stringify(got)}`)
}

// version of an installed library; its folder is beside this file's copy.
export const version = (name) => JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version

export async function run(subject, ver, cases) {
  let failed = 0
  for (const [name, test] of Object.entries(cases)) {
    let state = 'ok', note = ''
    const began = performance.now()
    try {
      note = (await test()) || ''
    } catch (e) {
      failed++
      state = 'FAILED'
      note = `${e.constructor.name}: ${e.message}`
      console.error(e)
    }
    const line = { subject, version: ver, case: name, state, note, seconds: (performance.now() - began) / 1000 }
    console.log(`${state}: ${subject} ${ver}, ${name}: ${note}`)
    if (process.env.RESULTS) appendFileSync(process.env.RESULTS, JSON.stringify(line) + '\n')
  }
  if (failed) process.exitCode = 1
}
