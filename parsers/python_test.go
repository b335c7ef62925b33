package parsers

import "testing"

func TestPython(t *testing.T) {
	rows(t, "pythonic", []row{
		{name: "values", text: `[f(a='x', b=[1, True, None], c={'k': -1.5}), now()]`, want: `|f{"a":"x","b":[1,true,null],"c":{"k":-1.5}}|now{}`},
		{name: "defect 10: negative numbers", text: `[f(a=-12.5, b=-1, c=+3)]`, want: `|f{"a":-12.5,"b":-1,"c":3}`},
		{name: "JSON's words", text: `[f(a=true, b=null, c=false)]`, want: `|f{"a":true,"b":null,"c":false}`},
		{name: "numbers of Python alone", text: `[f(a=1_000, b=0x1F, c=[.5, 1., 1e3, 0b11])]`, want: `|f{"a":1000,"b":31,"c":[0.5,1,1e3,3]}`},
		{name: "tuples and sets", text: `[f(a=(1, 'x'), b=('y'), c={1, 2}), f(a=(), b=(1,), c={})]`, want: `|f{"a":[1,"x"],"b":"y","c":[1,2]}|f{"a":[],"b":[1],"c":{}}`},
		{name: "keys that are no strings", text: `[f(a={1: 'x', None: 2, True: 3})]`, want: `|f{"a":{"1":"x","null":2,"true":3}}`},
		{name: "escapes", text: `[f(a='it\'s \x41\u00e9\U0001F600\101\n', b=r'\d+', c="q\"q")]`, want: `|f{"a":"it's A\u00e9😀A\n","b":"\\d+","c":"q\"q"}`},
		{name: "triple quotes", text: "[f(a=\"\"\"one 'x' \"two\"\nthree\"\"\", b='''''')]", want: `|f{"a":"one 'x' \"two\"\nthree","b":""}`},
		{name: "strings that are joined", text: `[f(a='one ' "two", b=1)]`, want: `|f{"a":"one two","b":1}`},
		{name: "dots in names", text: `[a.b.c(x=1)]`, want: `[a.b.c(x=1)]`},
		{name: "a module before the name", text: `[default_api.say(text='x')]`, want: `|say{"text":"x"}`},
		{name: "on lines", text: "[\n    f(a=1),\n    now(),\n]", want: `|f{"a":1}|now{}`},
		{name: "defect 20: brackets in strings", text: `[f(a='])}', b=[[1], ']'])]`, want: `|f{"a":"])}","b":[[1],"]"]}`},
		{name: "places", text: `[say('hi', 3)]`, want: `|say{"text":"hi","n":3} repaired`},
		{name: "places without names", text: `[now(1, 'x')]`, want: `|now{"arg0":1,"arg1":"x"} repaired`},
		{name: "a dict in place of arguments", text: `[say({'text': 'hi', "n": 3})]`, want: `|say{"text":"hi","n":3} repaired`},
		{name: "a dict with the signs of arguments", text: `[say({text='hi', n=3})]`, want: `|say{"text":"hi","n":3} repaired`},
		{name: "a dict that breaks off behind a value", text: `[f({a=1,`, want: `|f{"a":1} repaired`},
		{name: "a set in place of arguments", text: `[f({'a', 2})]`, want: `|f{"a":null,"2":null} repaired`},
		{name: "no key in place of arguments", text: `[f({`, want: `|f{} repaired`},
		{name: "unpacked", text: `[say(**{'text': 'hi'})]`, want: `|say{"text":"hi"} repaired`},
		{name: "colons", text: `[say(text: 'hi', "n": 3)]`, want: `|say{"text":"hi","n":3}`},
		{name: "a comma is missing", text: `[f(a=1 b=[2 3] c='x')]`, want: `|f{"a":1,"b":[2,3],"c":"x"} repaired`},
		{name: "no quotes", text: `[f(a=New York, b=x(1, 2), c=3)]`, want: `|f{"a":"New York","b":"x(1, 2)","c":3} repaired`},
		{name: "the first of two", text: `[f(a=1, a='two', b=3)]`, want: `|f{"a":1,"b":3} repaired`},
		{name: "no value", text: `[f(a=, b=2)]`, want: `|f{"b":2} repaired`},
		{name: "text behind", text: "[now()]\nThat is all.", want: "That is all.|now{}"},
		{name: "text before", text: "Sure: [now()]", want: "Sure: [now()]"},
		{name: "no tool", text: `[link(x=1)](http://x)`, want: `[link(x=1)](http://x)`},
		{name: "a list", text: `[1, 2] are numbers`, want: `[1, 2] are numbers`},
		{name: "breaks off", text: `[f(a=['x', {'k': 'v`, want: `|f{"a":["x",{"k":"v"}]} repaired`},
		{name: "no brackets at the end", text: `[f(a='x'`, want: `|f{"a":"x"} repaired`},
		{name: "the parenthesis is missing", text: `[f(a='x']`, want: `|f{"a":"x"} repaired`},
		{name: "marked", text: `<|python_start|>[f(a='x')]<|python_end|>`, want: `|f{"a":"x"}`},
		{name: "marked, unknown tool", text: `<|python_start|>[g(a='x')]<|python_end|>`, want: `|g{"a":"x"} unknown`},
		{name: "a built-in tool", text: `<|python_tag|>brave_search.call(query="Who, and when?")`, want: `|brave_search{"query":"Who, and when?"} unknown`},
		{name: "a marker in prose", text: "Write `<|python_start|>` before it.", want: "Write `<|python_start|>` before it."},
		{name: "keys that Python does not know", text: `[ns::odd(two words='x', $n=3, a/b='y'), ns::odd($n=1)]`, want: `|ns::odd{"two words":"x","$n":3,"a/b":"y"}|ns::odd{"$n":1}`},
		{name: "other markers in a value", text: `[f(a='</tool_call> <|call|> </think>', b="\r\n")]`, want: `|f{"a":"</tool_call> <|call|> </think>","b":"\r\n"}`},
	})
}

func TestOlmo(t *testing.T) {
	rows(t, "olmo3", []row{
		{name: "defect 14: text before", text: "Now.\n<function_calls>\nf(a=\"x\")\nnow()\n</function_calls>", want: `Now.|f{"a":"x"}|now{}`},
		{name: "text behind", text: "<function_calls>\nnow()\n</function_calls>\nDone.", want: "Done.|now{}"},
		{name: "its own closer in a value", text: "<function_calls>\nf(a=\"</function_calls> x\", b=2)\n</function_calls>", want: `|f{"a":"</function_calls> x","b":2}`},
		{name: "a quote is missing", text: "<function_calls>\nf(a=\"x\n</function_calls>", want: `|f{"a":"x\n"} repaired`},
		{name: "a marker in prose", text: "The tag <function_calls> opens it.", want: "The tag <function_calls> opens it."},
		{name: "none", text: "<function_calls>\n</function_calls>So.", want: "So."},
		{name: "thinks", text: "<think>\nso\n</think>\n\nYes.", want: "((so))Yes."},
		{name: "thinks on", tail: "<|assistant|><think>", text: "so\n</think>\n\nYes.", want: "((so))Yes."},
		{name: "a call in open reasoning", text: "<think>\nso\n<function_calls>\nnow()\n</function_calls>", want: "((so))|now{}"},
		{name: "a draft in reasoning", text: "<think>\nso <function_calls>now()</function_calls> no\n</think>Yes.", want: "((so <function_calls>now()</function_calls> no))Yes."},
	})
}

func TestLFM2(t *testing.T) {
	in := func(s string) string { return "<|tool_call_start|>[" + s + "]<|tool_call_end|>" }
	rows(t, "lfm2", []row{
		{name: "quotes and line feeds that are not escaped", text: in("f(a='print('it's')\nprint('b')\n', b=1)"), want: `|f{"a":"print('it's')\nprint('b')\n","b":1} repaired`},
		{name: "commas behind quotes", text: in(`say(text='say 'hi', then 'x'', n=1)`), want: `|say{"text":"say 'hi', then 'x'","n":1} repaired`},
		{name: "what looks like an argument", text: in(`say(text='g('x', z=1)', n=1)`), want: `|say{"text":"g('x', z=1)","n":1} repaired`},
		{name: "an argument that the tool does not have", text: in(`say(text='x', more='y', n=1), say(text='x', more=2)`), want: `|say{"text":"x","more":"y","n":1}|say{"text":"x","more":2}`},
		{name: "names and keys that Python does not know", text: in(`ns::odd(two words='it's', $n=3), ns::odd(a/b='x')`), want: `|ns::odd{"two words":"it's","$n":3} repaired|ns::odd{"a/b":"x"}`},
		{name: "JSON inside", text: in(`f(a={"k": ["v", "w\n"]}, b=[{"x": null}])`), want: `|f{"a":{"k":["v","w\n"]},"b":[{"x":null}]}`},
		{name: "text around", text: "Well. " + in("now()") + " So.", want: "Well.  So.|now{}"},
		{name: "no closer", text: "<|tool_call_start|>[f(a='x')", want: `|f{"a":"x"}`},
		{name: "several sections", text: in("now()") + "\n" + in("now()"), want: "|now{}|now{}"},
		{name: "its own markers in a value", text: in("f(a='<|tool_call_end|> <|tool_call_start|>', b='x')"), want: `|f{"a":"<|tool_call_end|> <|tool_call_start|>","b":"x"}`},
		{name: "defect 19: behind a thought", text: "<think>so</think>" + in("now()"), want: "((so))|now{}"},
		{name: "a dict that is not closed", text: in(`f(a={'k': 'v')`), want: `|f{"a":{"k":"v"}} repaired`},
		{name: "prose", text: "The token <|tool_call_start|> opens a call.", want: "The token <|tool_call_start|> opens a call."},
	})
}

func TestIPython(t *testing.T) {
	rows(t, "llama3_json", []row{
		{name: "a built-in tool", text: `<|python_tag|>brave_search.call(query="Who, and when?")`, want: `|brave_search{"query":"Who, and when?"} unknown`},
		{name: "text behind", text: "<|python_tag|>brave_search.call(query=\"x\")<|eom_id|>", want: `|brave_search{"query":"x"} unknown`},
		{name: "a tool", text: `<|python_tag|>say(text="x", n=1)`, want: `|say{"text":"x","n":1}`},
		{name: "JSON", text: `<|python_tag|>{"type": "function", "name": "f", "parameters": {"a": 1}}`, want: `|f{"a": 1}`},
		{name: "code", text: "<|python_tag|>print(1)", want: "<|python_tag|>print(1)"},
		{name: "prose", text: "The token <|python_tag|> opens it.", want: "The token <|python_tag|> opens it."},
		{name: "bare", text: `{"name": "f", "parameters": {"a": 1}}`, want: `|f{"a": 1}`},
	})
}
