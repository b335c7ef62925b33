"""Answers what Mistral's own program makes of texts: the other side of
TestAgainstMistral.

Arguments: tekken files; without any, those that mistral-common brings along.
Standard input: a JSON list of texts. Standard output: for each file a line
with its path and the ids of each text.
"""

import json
import pathlib
import sys

import mistral_common
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

texts = json.load(sys.stdin)
own = sorted((pathlib.Path(mistral_common.__file__).parent / "data").glob("tekken_*.json"))
for file in sys.argv[1:] or map(str, own):
    tokenizer = Tekkenizer.from_file(file)
    print(json.dumps({"file": file, "ids": [tokenizer.encode(text, bos=False, eos=False) for text in texts]}))
