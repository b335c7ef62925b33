// The Anthropic library for Node against dyn.
import Anthropic from '@anthropic-ai/sdk'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import { z } from 'zod'
import { CITIES, URL_, WEATHER, holds, refused, run, same, version } from './cases.mjs'

const client = new Anthropic({ baseURL: URL_, apiKey: 'none', maxRetries: 0 })
const tool = { name: 'get_weather', description: 'Tells the weather of a city.', input_schema: WEATHER }
const ask = (text, more) => ({ model: 'sim', max_tokens: 500, messages: [{ role: 'user', content: text }], ...more })
const shape = (m) => [m.content.map(({ id, signature, parsed_output, ...b }) => JSON.parse(JSON.stringify(b))), m.stop_reason]

// streamed reads a stream and checks it against the document of the same request.
async function streamed(text, more) {
  const kinds = [], pieces = { text: '', thinking: '', inputJson: '' }
  const s = client.messages.stream(ask(text, more))
  s.on('streamEvent', (e) => kinds.push(e.type))
  for (const k of Object.keys(pieces)) s.on(k, (delta) => (pieces[k] += delta))
  const whole = await s.finalMessage()
  same([kinds[0], kinds.at(-1)], ['message_start', 'message_stop'], 'first and last event')
  same(shape(whole), shape(await client.messages.create(ask(text, more))), 'stream and document')
  holds(whole.usage.output_tokens > 0, 'usage')
  return { m: whole, pieces }
}

run('@anthropic-ai/sdk for Node', version('@anthropic-ai/sdk'), {
  async text() {
    const { m, pieces } = await streamed('Say a word.')
    same([m.stop_reason, m.content[0].text, pieces.text], ['end_turn', 'Hello from the model.', 'Hello from the model.'])
  },
  async thinking() {
    const { m, pieces } = await streamed('SDK-think', { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 2000 })
    same(m.content.map((b) => b.type), ['thinking', 'text'])
    holds(pieces.thinking.includes('Two and two.') && m.content[0].signature, 'thought and signature')
  },
  async 'parallel calls'() {
    const { m } = await streamed('SDK-parallel', { tools: [tool] })
    same(m.content.filter((b) => b.type === 'tool_use').map((b) => b.input), CITIES)
    same(m.stop_reason, 'tool_use')
  },
  async 'stop reasons'() {
    const long = await streamed('SDK-length', { max_tokens: 5 })
    same([long.m.stop_reason, long.m.usage.output_tokens], ['max_tokens', 5])
    const { m } = await streamed('SDK-stop', { stop_sequences: ['three'] })
    same([m.stop_reason, m.stop_sequence, m.content[0].text.trim()], ['stop_sequence', 'three', 'one two'])
  },
  async 'tool runner'() {
    const asked = []
    const weather = betaZodTool({
      name: 'get_weather', description: 'Tells the weather of a city.', inputSchema: z.object({ city: z.string() }),
      run: ({ city }) => { asked.push(city); return 'seven degrees' },
    })
    for (const stream of [false, true]) {
      const last = await client.beta.messages.toolRunner({ ...ask('SDK-tool'), tools: [weather], stream }).runUntilDone()
      same(last.content.at(-1).text, 'It has seven degrees there.', `stream ${stream}`)
    }
    same(asked, ['Lyon', 'Lyon'])
  },
  async 'structured output'() {
    const form = zodOutputFormat(z.object({ city: z.string(), degrees: z.number() }))
    const m = await client.messages.parse(ask('SDK-json', { output_config: { format: form } }))
    same(m.parsed_output, { city: 'Lyon', degrees: 7 })
    return 'the simulated engine cannot enforce a form; in this API the form is asked for in the prompt'
  },
  async errors() {
    const e = await refused(() => client.messages.create({ ...ask('x'), model: 'gone' }), Anthropic.NotFoundError, 'gone')
    same(e.error.error.type, 'not_found_error')
    await refused(() => client.messages.create({ ...ask('x'), messages: [] }), Anthropic.BadRequestError)
    await refused(() => client.messages.create(ask('many words '.repeat(40_000))), Anthropic.BadRequestError, 'prompt is too long')
    await refused(() => client.messages.stream({ ...ask('x'), model: 'gone' }).finalMessage(), Anthropic.NotFoundError, 'gone')
  },
  async 'count tokens'() {
    const { max_tokens, ...body } = ask('Say a word.', { tools: [tool], system: 'Be short.' })
    const n = (await client.messages.countTokens(body)).input_tokens
    const u = (await client.messages.create({ max_tokens, ...body })).usage
    same(n, u.input_tokens + u.cache_read_input_tokens + u.cache_creation_input_tokens)
  },
  async models() {
    const ids = []
    for await (const m of client.models.list()) ids.push(m.id)
    same(ids, ['sim'])
    same((await client.models.retrieve('sim')).id, 'sim')
  },
})
