"""The openai library for Python against dyn: chat, responses, completions."""

import json

import openai
from pydantic import BaseModel

from cases import CITIES, URL, holds, refused, run, same

client = openai.OpenAI(base_url=URL + "/v1", api_key="none", max_retries=0)
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
CHAT_TOOL = {"type": "function", "function": {"name": "get_weather", "description": "Tells the weather.", "parameters": PARAMETERS}}
RESPONSES_TOOL = {"type": "function", "name": "get_weather", "description": "Tells the weather.", "parameters": PARAMETERS, "strict": False}


def ask(text, **more):
    return {"model": "sim", "messages": [{"role": "user", "content": text}], **more}


def streamed(text, **more):
    """Reads a chat stream by the library's types; checks it against the document of the same request."""
    with client.chat.completions.stream(**ask(text, stream_options={"include_usage": True}, **more)) as s:
        kinds = [e.type for e in s]
        whole = s.get_final_completion()
    doc = client.chat.completions.create(**ask(text, **more))
    def shape(c):
        m = c.choices[0].message
        return (m.content or "", getattr(m, "reasoning_content", None), c.choices[0].finish_reason,
                [(t.function.name, json.loads(t.function.arguments)) for t in m.tool_calls or []])
    same(shape(whole), shape(doc), "stream and document")
    same(whole.usage.total_tokens, whole.usage.prompt_tokens + whole.usage.completion_tokens, "usage")
    holds("chunk" in kinds and whole.usage.completion_tokens > 0, f"events {set(kinds)}, usage {whole.usage}")
    return whole.choices[0], kinds


def text():
    c, kinds = streamed("Say a word.")
    same((c.message.content, c.finish_reason), ("Hello from the model.", "stop"), "answer")
    holds("content.done" in kinds, f"events: {set(kinds)}")


def thinking():
    c, _ = streamed("SDK-think")
    same(c.message.content.strip(), "Four.", "text")
    holds("Two and two." in c.message.reasoning_content, f"thought: {c.message}")


def parallel():
    c, kinds = streamed("SDK-parallel", tools=[CHAT_TOOL])
    same([json.loads(t.function.arguments) for t in c.message.tool_calls], [{"city": x} for x in CITIES], "calls")
    same(c.finish_reason, "tool_calls", "finish reason")
    same(kinds.count("tool_calls.function.arguments.done"), 2, "ends of calls")


def stops():
    for limit in ({"max_tokens": 5}, {"max_completion_tokens": 5}):
        doc = client.chat.completions.create(**ask("SDK-length", **limit))
        same((doc.choices[0].finish_reason, doc.usage.completion_tokens), ("length", 5), "length")
    c, _ = streamed("SDK-stop", stop=["three"])
    same((c.finish_reason, c.message.content.strip()), ("stop", "one two"), "stop sequence")


class City(BaseModel):
    city: str
    degrees: int


def structured():
    e = refused(lambda: client.chat.completions.parse(response_format=City, **ask("SDK-json")), openai.BadRequestError, "response_format")
    refused(lambda: client.responses.parse(model="sim", input="SDK-json", text_format=City), openai.BadRequestError, "text.format")
    return f"the simulated engine cannot enforce a form, so a 400 says: {e.body['message']}"


def errors():
    e = refused(lambda: client.chat.completions.create(**{**ask("x"), "model": "gone"}), openai.NotFoundError, "gone")
    same(e.code, "model_not_found", "code")
    refused(lambda: client.chat.completions.create(model="sim", messages=[]), openai.BadRequestError)
    e = refused(lambda: client.chat.completions.create(**ask("many words " * 40_000)), openai.BadRequestError, "maximum context length")
    same(e.code, "context_length_exceeded", "code")
    e = refused(lambda: client.responses.create(model="sim", input="many words " * 40_000), openai.BadRequestError)
    same(e.code, "context_length_exceeded", "code of responses")
    refused(lambda: client.responses.create(model="sim", input="x", previous_response_id="resp_gone"), openai.APIStatusError, "resp_gone")


def models():
    same([m.id for m in client.models.list()], ["sim"], "models")
    same(client.models.retrieve("sim").id, "sim", "one model")
    refused(lambda: client.models.retrieve("gone"), openai.NotFoundError)


def completions():
    doc = client.completions.create(model="sim", prompt="Once upon a time", max_tokens=4)
    same((doc.choices[0].finish_reason, doc.usage.completion_tokens), ("length", 4), "document")
    parts = list(client.completions.create(model="sim", prompt="Once upon a time", max_tokens=4, stream=True))
    same("".join(p.choices[0].text for p in parts if p.choices), doc.choices[0].text, "stream")


def response(text, **more):
    """Reads a stream of responses; checks it against the document of the same request."""
    with client.responses.stream(model="sim", input=text, **more) as s:
        events = list(s)
    kinds, whole = [e.type for e in events], events[-1].response  # get_final_response takes completed ones only
    same((kinds[0], kinds[-1]), ("response.created", f"response.{whole.status}"), "first and last event")
    doc = client.responses.create(model="sim", input=text, **more)
    def shape(r):
        return r.output_text.strip(), [o.type for o in r.output], [json.loads(o.arguments) for o in r.output if o.type == "function_call"], r.status
    same(shape(whole), shape(doc), "stream and document")
    same(whole.usage.total_tokens, whole.usage.input_tokens + whole.usage.output_tokens, "usage")
    return whole, kinds


def responses_text():
    r, kinds = response("Say a word.")
    same(r.output_text, "Hello from the model.", "answer")
    holds("response.output_text.delta" in kinds, f"events: {kinds}")


def responses_thinking():
    r, _ = response("SDK-think")
    same([o.type for o in r.output], ["reasoning", "message"], "items")
    same(r.output_text.strip(), "Four.", "text")
    thought = "".join(c.text for c in [*(r.output[0].content or []), *r.output[0].summary])
    holds("Two and two." in thought, f"thought: {r.output[0]}")


def responses_parallel():
    r, kinds = response("SDK-parallel", tools=[RESPONSES_TOOL])
    calls = [o for o in r.output if o.type == "function_call"]
    same([json.loads(c.arguments) for c in calls], [{"city": x} for x in CITIES], "calls")
    same(kinds.count("response.function_call_arguments.done"), 2, "ends of calls")


def responses_stops():
    r, _ = response("SDK-length", max_output_tokens=5)
    same((r.status, r.incomplete_details.reason), ("incomplete", "max_output_tokens"), "length")


def responses_tools():
    first = client.responses.create(model="sim", input="SDK-tool", tools=[RESPONSES_TOOL])
    call = next(o for o in first.output if o.type == "function_call")
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "seven degrees"}
    by_id = client.responses.create(model="sim", previous_response_id=first.id, input=[result], tools=[RESPONSES_TOOL])
    same(by_id.output_text, "It has seven degrees there.", "by previous_response_id")
    history = [{"role": "user", "content": "SDK-tool"}, *[o.model_dump(exclude_none=True) for o in first.output], result]
    whole = client.responses.create(model="sim", input=history, tools=[RESPONSES_TOOL], store=False)
    same(whole.output_text, by_id.output_text, "with the items sent back")


def responses_previous():
    first = client.responses.create(model="sim", input="blue is my colour")
    with client.responses.stream(model="sim", input="SDK-second", previous_response_id=first.id) as s:
        second = s.get_final_response()
    same((second.output_text, second.previous_response_id), ("Your colour is blue.", first.id), "second answer")
    same(client.responses.retrieve(first.id).output_text, first.output_text, "retrieved")
    items = [i.type for i in client.responses.input_items.list(second.id)]
    holds("message" in items, f"input items: {items}")
    client.responses.delete(first.id)
    refused(lambda: client.responses.retrieve(first.id), openai.NotFoundError)


def responses_counts():
    n = client.responses.input_tokens.count(model="sim", input="Say a word.", tools=[RESPONSES_TOOL]).input_tokens
    used = client.responses.create(model="sim", input="Say a word.", tools=[RESPONSES_TOOL]).usage.input_tokens
    same(n, used, "counted and used")


run("openai for Python", openai.__version__, {
    "text": text, "thinking": thinking, "parallel calls": parallel, "stop reasons": stops, "structured output": structured,
    "errors": errors, "models": models, "completions": completions, "responses: text": responses_text,
    "responses: thinking": responses_thinking, "responses: parallel calls": responses_parallel, "responses: stop reasons": responses_stops,
    "responses: tools": responses_tools, "responses: previous_response_id": responses_previous, "responses: count tokens": responses_counts,
})
