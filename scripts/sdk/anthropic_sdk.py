"""The anthropic library for Python against dyn."""

import anthropic
from anthropic import beta_tool
from pydantic import BaseModel

from cases import CITIES, URL, holds, refused, run, same

client = anthropic.Anthropic(base_url=URL, api_key="none", max_retries=0)
WEATHER = {
    "name": "get_weather",
    "description": "Tells the weather of a city.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def ask(text, **more):
    return {"model": "sim", "max_tokens": 500, "messages": [{"role": "user", "content": text}], **more}


def streamed(text, **more):
    """Reads a stream by the library's types; checks it against the document of the same request."""
    kinds, pieces = [], {"text": "", "thinking": "", "input_json": ""}
    with client.messages.stream(**ask(text, **more)) as s:
        for e in s:
            kinds.append(e.type)
            if e.type == "text":
                pieces["text"] += e.text
            elif e.type == "thinking":
                pieces["thinking"] += e.thinking
            elif e.type == "input_json":
                pieces["input_json"] += e.partial_json
        whole = s.get_final_message()
    same((kinds[0], kinds[-1]), ("message_start", "message_stop"), "first and last event")
    same(kinds.count("content_block_stop"), len(whole.content), "ends of blocks")
    doc = client.messages.create(**ask(text, **more))
    def shape(m):
        return [b.model_dump(exclude={"id", "signature", "parsed_output"}, exclude_none=True) for b in m.content], m.stop_reason
    same(shape(whole), shape(doc), "stream and document")
    holds(whole.usage.output_tokens > 0 and whole.usage.input_tokens + (whole.usage.cache_read_input_tokens or 0) > 0, f"usage: {whole.usage}")
    return whole, pieces


def text():
    m, p = streamed("Say a word.")
    same((m.stop_reason, m.content[0].text, p["text"]), ("end_turn", "Hello from the model.", "Hello from the model."), "answer")
    same(m.model, "sim", "model")


def thinking():
    m, p = streamed("SDK-think", thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=2000)
    same([b.type for b in m.content], ["thinking", "text"], "blocks")
    holds("Two and two." in p["thinking"] and m.content[0].signature, f"thought and signature: {m.content[0]}")
    same(m.content[1].text.strip(), "Four.", "text")
    again = ask("x", thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=2000)
    again["messages"] = [{"role": "user", "content": "SDK-think"}, {"role": "assistant", "content": m.content}, {"role": "user", "content": "SDK-after"}]
    same(client.messages.create(**again).content[-1].text, "It was four.", "with the blocks sent back")


def parallel():
    m, p = streamed("SDK-parallel", tools=[WEATHER])
    calls = [b for b in m.content if b.type == "tool_use"]
    same(([c.input for c in calls], m.stop_reason), ([{"city": c} for c in CITIES], "tool_use"), "calls")
    holds(calls[0].id != calls[1].id, "two calls with one id")


def stops():
    m, _ = streamed("SDK-length", max_tokens=5)
    same((m.stop_reason, m.usage.output_tokens), ("max_tokens", 5), "length")
    m, _ = streamed("SDK-stop", stop_sequences=["three"])
    same((m.stop_reason, m.stop_sequence, m.content[0].text.strip()), ("stop_sequence", "three", "one two"), "stop sequence")


def runner():
    asked = []

    @beta_tool
    def get_weather(city: str) -> str:
        """Tells the weather of a city.

        Args:
            city: its name
        """
        asked.append(city)
        return "seven degrees"

    for stream in (False, True):
        last = None
        loop = client.beta.messages.tool_runner(tools=[get_weather], stream=stream, **ask("SDK-tool"))
        for m in loop:
            last = m.get_final_message() if stream else m
        same(last.content[-1].text, "It has seven degrees there.", f"last answer, stream {stream}")
    same(asked, ["Lyon", "Lyon"], "calls")


class City(BaseModel):
    city: str
    degrees: int


def structured():
    m = client.messages.parse(output_format=City, **ask("SDK-json"))
    same(m.parsed_output, City(city="Lyon", degrees=7), "parsed")
    return "the simulated engine cannot enforce a form; in this API the form is asked for in the prompt"


def errors():
    e = refused(lambda: client.messages.create(**{**ask("x"), "model": "gone"}), anthropic.NotFoundError, "gone")
    same(e.body["error"]["type"], "not_found_error", "type")
    e = refused(lambda: client.messages.create(**{**ask("x"), "messages": []}), anthropic.BadRequestError)
    same(e.body["error"]["type"], "invalid_request_error", "type")
    e = refused(lambda: client.messages.create(**ask("many words " * 40_000)), anthropic.BadRequestError, "prompt is too long", "maximum")
    holds(e.request_id, "no request id")

    def read():
        with client.messages.stream(**{**ask("x"), "model": "gone"}) as s:
            return s.get_final_message()
    refused(read, anthropic.NotFoundError, "gone")


def counts():
    body = ask("Say a word.", tools=[WEATHER], system="Be short.")
    n = client.messages.count_tokens(**{k: v for k, v in body.items() if k != "max_tokens"}).input_tokens
    u = client.messages.create(**body).usage
    same(n, u.input_tokens + u.cache_read_input_tokens + u.cache_creation_input_tokens, "counted and used")


def models():
    same([m.id for m in client.models.list()], ["sim"], "models")
    same(client.models.retrieve("sim").id, "sim", "one model")
    refused(lambda: client.models.retrieve("gone"), anthropic.NotFoundError)


run("anthropic for Python", anthropic.__version__, {
    "text": text, "thinking": thinking, "parallel calls": parallel, "stop reasons": stops, "tool runner": runner,
    "structured output": structured, "errors": errors, "count tokens": counts, "models": models,
})
