"""Renders templates with Jinja2 as model servers set it up.

Reads a JSON list of [template, context] and writes a JSON list of
{"out": text} or {"err": "Kind: message"}.
"""

import datetime
import json
import sys

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        call = self.call_method("_text", [])
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _text(self, caller):
        return caller()


def raise_exception(message):
    raise TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
env.filters["tojson"] = tojson
env.globals["raise_exception"] = raise_exception
env.globals["strftime_now"] = lambda f: datetime.datetime(2025, 6, 5, 13, 4, 9).strftime(f)

results = []
for template, context in json.load(sys.stdin):
    try:
        results.append({"out": env.from_string(template).render(**context)})
    except Exception as e:
        results.append({"err": type(e).__name__ + ": " + str(e)})
sys.stdout.write(json.dumps(results))
