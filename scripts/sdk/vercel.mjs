// The Vercel AI SDK against dyn, by its three providers: /v1/messages,
// /v1/responses and /v1/chat/completions.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, Output, generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { CITIES, URL_, holds, refused, run, same, version } from './cases.mjs'

globalThis.AI_SDK_LOG_WARNINGS = false
const at = { baseURL: `${URL_}/v1`, apiKey: 'none' }
const models = {
  messages: createAnthropic(at)('sim'),
  responses: createOpenAI(at).responses('sim'),
  chat: createOpenAICompatible({ ...at, name: 'dyn', includeUsage: true })('sim'),
}
const inputSchema = z.object({ city: z.string() })
const plain = { get_weather: tool({ description: 'Tells the weather of a city.', inputSchema }) }

// parts reads a whole stream.
async function parts(model, prompt, more) {
  const all = []
  const s = streamText({ model, prompt, maxRetries: 0, onError() {}, ...more })
  for await (const p of s.fullStream) all.push(p)
  const broken = all.find((p) => p.type === 'error')
  if (broken) throw broken.error
  return { all, text: await s.text, thought: await s.reasoningText, calls: await s.toolCalls, why: await s.finishReason, usage: await s.usage }
}

for (const [name, model] of Object.entries(models)) {
  await run(`Vercel AI SDK, ${name}`, version('ai'), {
    async text() {
      const a = await parts(model, 'Say a word.')
      same([a.text, a.why], ['Hello from the model.', 'stop'])
      holds(a.usage.inputTokens > 0 && a.usage.outputTokens > 0, JSON.stringify(a.usage))
    },
    async thinking() {
      const more = name === 'messages' ? { providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } } } : {}
      const a = await parts(model, 'SDK-think', more)
      same(a.text.trim(), 'Four.')
      if (name !== 'responses') holds(a.thought?.includes('Two and two.'), `thought: ${a.thought}`)
      else holds(a.all.some((p) => p.type === 'reasoning-start'), 'no reasoning part')
    },
    async 'parallel calls'() {
      const a = await parts(model, 'SDK-parallel', { tools: plain })
      same([a.calls.map((c) => c.input), a.why], [CITIES, 'tool-calls'])
    },
    async 'stop reasons'() {
      const a = await parts(model, 'SDK-length', { maxOutputTokens: 5 })
      same(a.why, 'length')
    },
    async 'tool runner'() {
      const asked = []
      const tools = { get_weather: tool({ description: 'Tells the weather of a city.', inputSchema, execute: ({ city }) => { asked.push(city); return 'seven degrees' } }) }
      const doc = await generateText({ model, prompt: 'SDK-tool', tools, stopWhen: stepCountIs(4), maxRetries: 0 })
      same(doc.text, 'It has seven degrees there.')
      const a = await parts(model, 'SDK-tool', { tools, stopWhen: stepCountIs(4) })
      same([a.text, asked], ['It has seven degrees there.', ['Lyon', 'Lyon']])
    },
    async 'structured output'() {
      const output = Output.object({ schema: z.object({ city: z.string(), degrees: z.number() }) })
      // For models that it does not know, the provider of /v1/messages asks
      // for a call of a tool named json.
      const prompt = name === 'messages' ? 'SDK-json as a call' : 'SDK-json'
      const call = () => generateText({ model, prompt, output, maxRetries: 0 })
      if (name === 'messages') return same((await call()).output, { city: 'Lyon', degrees: 7 })
      const e = await refused(call, APICallError, 'can hold an answer to a format')
      return `the simulated engine cannot enforce a form, so a ${e.statusCode} says so`
    },
    async errors() {
      const e = await refused(() => parts(model, 'many words '.repeat(40_000)), APICallError, name === 'messages' ? 'prompt is too long' : 'maximum context length')
      same([e.statusCode, e.isRetryable], [400, false])
    },
  })
}
