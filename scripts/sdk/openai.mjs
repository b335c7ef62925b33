// The OpenAI library for Node against dyn: chat, responses, completions.
import OpenAI from 'openai'
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { CITIES, URL_, WEATHER, holds, refused, run, same, version } from './cases.mjs'

const client = new OpenAI({ baseURL: `${URL_}/v1`, apiKey: 'none', maxRetries: 0 })
const chatTool = { type: 'function', function: { name: 'get_weather', description: 'Tells the weather.', parameters: WEATHER } }
const tool = { type: 'function', name: 'get_weather', description: 'Tells the weather.', parameters: WEATHER, strict: false }
const ask = (text, more) => ({ model: 'sim', messages: [{ role: 'user', content: text }], ...more })
const City = z.object({ city: z.string(), degrees: z.number() })
const calls = (m) => (m.tool_calls ?? []).map((t) => [t.function.name, JSON.parse(t.function.arguments)])
const shape = (c) => {
  const { message: m, finish_reason } = c.choices[0]
  return [m.content ?? '', m.reasoning_content ?? null, finish_reason, calls(m)]
}

// streamed reads a chat stream and checks it against the document of the same request.
async function streamed(text, more) {
  const s = client.chat.completions.stream(ask(text, { stream_options: { include_usage: true }, ...more }))
  const whole = await s.finalChatCompletion()
  const doc = await client.chat.completions.create(ask(text, more))
  const [a, b] = [shape(whole), shape(doc)]
  a[1] ??= b[1] // the library's stream helper keeps no reasoning
  same(a, b, 'stream and document')
  same(whole.usage.total_tokens, whole.usage.prompt_tokens + whole.usage.completion_tokens)
  return whole.choices[0]
}

// response reads a stream of responses and checks it against the document.
async function response(text, more) {
  const kinds = []
  let whole
  for await (const e of await client.responses.create({ model: 'sim', input: text, stream: true, ...more })) {
    kinds.push(e.type)
    whole = e.response ?? whole
  }
  same([kinds[0], kinds.at(-1)], ['response.created', `response.${whole.status}`], 'first and last event')
  const doc = await client.responses.create({ model: 'sim', input: text, ...more })
  const form = (r) => [r.output.map((o) => o.type), r.output.filter((o) => o.type === 'function_call').map((o) => JSON.parse(o.arguments)), r.status]
  same(form(whole), form(doc), 'stream and document')
  return { r: doc, kinds }
}

run('openai for Node', version('openai'), {
  async text() {
    const c = await streamed('Say a word.')
    same([c.message.content, c.finish_reason], ['Hello from the model.', 'stop'])
  },
  async thinking() {
    const parts = []
    for await (const p of await client.chat.completions.create({ ...ask('SDK-think'), stream: true })) parts.push(p.choices[0]?.delta ?? {})
    holds(parts.map((d) => d.reasoning_content ?? '').join('').includes('Two and two.'), 'thought')
    same(parts.map((d) => d.content ?? '').join('').trim(), 'Four.')
  },
  async 'parallel calls'() {
    const c = await streamed('SDK-parallel', { tools: [chatTool] })
    same([calls(c.message).map((x) => x[1]), c.finish_reason], [CITIES, 'tool_calls'])
  },
  async 'stop reasons'() {
    const doc = await client.chat.completions.create(ask('SDK-length', { max_completion_tokens: 5 }))
    same([doc.choices[0].finish_reason, doc.usage.completion_tokens], ['length', 5])
    const c = await streamed('SDK-stop', { stop: ['three'] })
    same([c.finish_reason, c.message.content.trim()], ['stop', 'one two'])
  },
  async 'tool runner'() {
    const asked = []
    const fn = { ...chatTool.function, parse: JSON.parse, function: ({ city }) => { asked.push(city); return 'seven degrees' } }
    for (const stream of [false, true]) {
      const loop = client.chat.completions.runTools({ ...ask('SDK-tool'), tools: [{ type: 'function', function: fn }], stream })
      same(await loop.finalContent(), 'It has seven degrees there.', `stream ${stream}`)
    }
    same(asked, ['Lyon', 'Lyon'])
  },
  async 'structured output'() {
    const e = await refused(() => client.chat.completions.parse(ask('SDK-json', { response_format: zodResponseFormat(City, 'city') })), OpenAI.BadRequestError, 'response_format')
    await refused(() => client.responses.parse({ model: 'sim', input: 'SDK-json', text: { format: zodTextFormat(City, 'city') } }), OpenAI.BadRequestError, 'text.format')
    return `the simulated engine cannot enforce a form, so a 400 says: ${e.error.message}`
  },
  async errors() {
    const e = await refused(() => client.chat.completions.create({ ...ask('x'), model: 'gone' }), OpenAI.NotFoundError, 'gone')
    same(e.code, 'model_not_found')
    await refused(() => client.chat.completions.create({ model: 'sim', messages: [] }), OpenAI.BadRequestError)
    const long = await refused(() => client.responses.create({ model: 'sim', input: 'many words '.repeat(40_000) }), OpenAI.BadRequestError)
    same(long.code, 'context_length_exceeded')
  },
  async models() {
    const ids = []
    for await (const m of client.models.list()) ids.push(m.id)
    same(ids, ['sim'])
    same((await client.models.retrieve('sim')).id, 'sim')
  },
  async completions() {
    const doc = await client.completions.create({ model: 'sim', prompt: 'Once upon a time', max_tokens: 4 })
    let text = ''
    for await (const p of await client.completions.create({ model: 'sim', prompt: 'Once upon a time', max_tokens: 4, stream: true })) text += p.choices[0]?.text ?? ''
    same([text, doc.usage.completion_tokens, doc.choices[0].finish_reason], [doc.choices[0].text, 4, 'length'])
  },
  async 'responses: text'() {
    const { r, kinds } = await response('Say a word.')
    same(r.output_text, 'Hello from the model.')
    holds(kinds.includes('response.output_text.delta'), String(kinds))
  },
  async 'responses: thinking'() {
    const { r } = await response('SDK-think')
    same([r.output.map((o) => o.type), r.output_text.trim()], [['reasoning', 'message'], 'Four.'])
  },
  async 'responses: parallel calls'() {
    const { r } = await response('SDK-parallel', { tools: [tool] })
    same(r.output.filter((o) => o.type === 'function_call').map((o) => JSON.parse(o.arguments)), CITIES)
  },
  async 'responses: stop reasons'() {
    const { r } = await response('SDK-length', { max_output_tokens: 5 })
    same([r.status, r.incomplete_details.reason], ['incomplete', 'max_output_tokens'])
  },
  async 'responses: tools'() {
    const first = await client.responses.create({ model: 'sim', input: 'SDK-tool', tools: [tool] })
    const call = first.output.find((o) => o.type === 'function_call')
    const result = { type: 'function_call_output', call_id: call.call_id, output: 'seven degrees' }
    const byID = await client.responses.create({ model: 'sim', previous_response_id: first.id, input: [result], tools: [tool] })
    same(byID.output_text, 'It has seven degrees there.')
    const whole = await client.responses.create({ model: 'sim', input: [{ role: 'user', content: 'SDK-tool' }, ...first.output, result], tools: [tool] })
    same(whole.output_text, byID.output_text)
  },
  async 'responses: previous_response_id'() {
    const first = await client.responses.create({ model: 'sim', input: 'blue is my colour' })
    const second = await client.responses.stream({ model: 'sim', input: 'SDK-second', previous_response_id: first.id }).finalResponse()
    same([second.output_text, second.previous_response_id], ['Your colour is blue.', first.id])
    same((await client.responses.retrieve(first.id)).output_text, first.output_text)
  },
  async 'responses: count tokens'() {
    const body = { model: 'sim', input: 'Say a word.', tools: [tool] }
    same((await client.responses.inputTokens.count(body)).input_tokens, (await client.responses.create(body)).usage.input_tokens)
  },
})
