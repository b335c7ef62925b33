package parsers

import "testing"

func TestPseudo(t *testing.T) {
	in := func(s string) string { return "<|tool_call>" + s + "<tool_call|>" }
	rows(t, "gemma4", []row{
		{name: "defect 9: values", text: in(`call:f{a:<|"|>x<|"|>,b:[1,null,true,<|"|>y<|"|>],c:{k:-1.5,<|"|>a b<|"|>:None}}`), want: `|f{"a":"x","b":[1,null,true,"y"],"c":{"k":-1.5,"a b":null}}`},
		{name: "bug 30: nothing is escaped", text: in(`call:f{a:<|"|>"q" \n {x},[y]<|"|>}`), want: `|f{"a":"\"q\" \\n {x},[y]"}`},
		{name: "its own delimiter", text: in(`call:f{a:<|"|>uses <|"|> here<|"|>,b:1}`), want: `|f{"a":"uses <|\"|> here","b":1} repaired`},
		{name: "its own markers", text: in(`call:f{a:<|"|>x}<tool_call|> <|tool_call>call:f{<|"|>,b:1}`), want: `|f{"a":"x}<tool_call|> <|tool_call>call:f{","b":1}`},
		{name: "no arguments", text: in("call:now{}"), want: "|now{}"},
		{name: "no braces", text: in("call:now"), want: "|now{} repaired"},
		{name: "bug 57: parentheses", text: in(`call:f(a=1, b:<|"|>x<|"|>)`), want: `|f{"a":1,"b":"x"}`},
		{name: "bug 57: only of a known tool", text: in(`call:g(a=1)`), want: `<|tool_call>call:g(a=1)<tool_call|>`},
		{name: "two in one", text: in(`call:now{}call:f{a:1}`), want: `|now{}|f{"a":1}`},
		{name: "bug 32: a stop marker is left", text: in("call:now{}") + "<|tool_response>", want: "|now{}"},
		{name: "defect 13: text behind", text: in("call:now{}") + "So be it.", want: "So be it.|now{}"},
		{name: "JSON", text: in(`call:f{"a": "x, \"y\"", "b": 2}`), want: `|f{"a":"x, \"y\"","b":2} repaired`},
		{name: "two braces", text: in(`call:f{{"a": 1}}`), want: `|f{"a":1} repaired`},
		{name: "braces are missing", text: in(`call:f{a:{k:[1,2`), want: `|f{"a":{"k":[1,2]}} repaired`},
		{name: "breaks off", text: `<|tool_call>call:f{a:[<|"|>x`, want: `|f{"a":["x"]} repaired`},
		{name: "a delimiter is missing", text: `<|tool_call>call:f{a:<|"|>x<tool_call|>`, want: `|f{"a":"x"} repaired`},
		{name: "bare text", text: in(`call:say{text:New York, NY,n:3}`), want: `|say{"text":"New York, NY","n":3}`},
		{name: "types", text: in(`call:set{x:5,on:True,s:7,o:{k:1},l:[2,<|"|>y<|"|>]}`), want: `|set{"x":5,"on":true,"s":"7","o":{"k":"1"},"l":["2","y"]}`},
		{name: "not of its type", text: in(`call:set{x:many,on:maybe}`), want: `|set{"x":"many","on":"maybe"} mistyped`},
		{name: "the first of two", text: in(`call:f{a:{k:1},a:[2,3],b:4}`), want: `|f{"a":{"k":1},"b":4} repaired`},
		{name: "white space", text: in(` call: f { a : <|"|>x<|"|> , b : [ 1 , 2 ] } `), want: `|f{"a":"x","b":[1,2]}`},
		{name: "prose", text: "The tag <|tool_call> opens it: call:x.", want: "The tag <|tool_call> opens it: call:x."},
		{name: "bug 33: thinks", text: "<|channel>thought\nso\n<channel|>Yes.", want: "((so))Yes."},
		{name: "thinks behind a call", text: in("call:now{}") + "<|channel>thought\nso<channel|>Yes.", want: "((so))Yes.|now{}"},
		{name: "thought not at all", tail: "<|turn>model\n<|channel>thought\n<channel|>", text: "Yes.", want: "Yes."},
		{name: "a call in open reasoning", text: "<|channel>thought\nso" + in("call:now{}"), want: "((so))|now{}"},
	})
	rows(t, "functiongemma", []row{
		{name: "defect 9: bare values", text: "<start_function_call>call:set{x:-2,on:false,s:<escape>5<escape>}<end_function_call>", want: `|set{"x":-2,"on":false,"s":"5"}`},
		{name: "several", text: "Ok.<start_function_call>call:now{}<end_function_call><start_function_call>call:say{text:<escape>a,b}<escape>,n:1}<end_function_call>", want: `Ok.|now{}|say{"text":"a,b}","n":1}`},
		{name: "other values between delimiters", text: "<start_function_call>call:set{x:<escape>5<escape>,on:<escape>True<escape>,s:<escape>5<escape>,o:<escape>{'k': 'v'}<escape>}<end_function_call>", want: `|set{"x":5,"on":true,"s":"5","o":{"k": "v"}}`},
		{name: "a value between delimiters breaks off", text: "<start_function_call>call:set{x:<escape>5", want: `|set{"x":5} repaired`},
		{name: "a value between delimiters that is none", text: "<start_function_call>call:set{x:<escape>a \"b\"<escape>}<end_function_call>", want: `|set{"x":"a \"b\""} mistyped`},
		{name: "a response is begun", text: "<start_function_call>call:now{}<end_function_call><start_function_response>", want: "|now{}"},
	})
}
