"""Times Hugging Face's tokenizers: the other side of TestAgainstHF.

Argument: a tokenizer.json. Standard input: one JSON string a line, a text.
Standard output: for each, the best time of one encode in seconds and the ids.
"""

import json
import os
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"

from tokenizers import Tokenizer, __version__  # noqa: E402

tokenizer = Tokenizer.from_file(sys.argv[1])
print(json.dumps({"version": __version__}), flush=True)
for line in sys.stdin:
    text = json.loads(line)
    best, spent, runs = float("inf"), 0.0, 0
    while runs < 2 or spent < 0.05 and runs < 1000:
        start = time.thread_time()
        encoding = tokenizer.encode(text, add_special_tokens=False)
        took = time.thread_time() - start
        best, spent, runs = min(best, took), spent + took, runs + 1
    print(json.dumps({"best": best, "ids": encoding.ids}), flush=True)
