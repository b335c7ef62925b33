package sim

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/tidwall/gjson"
)

// health says whether the engine lives; a draining one does.
func (s *server) health(w http.ResponseWriter, _ *http.Request) {
	if s.engine.Dead() {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func (s *server) version(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, `{"version":"`+version+`"}`)
}

func (s *server) load(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, `{"server_load":0}`)
}

// sources tells where KV events come from, with the ports that were bound.
func (s *server) sources(w http.ResponseWriter, _ *http.Request) {
	if s.events == nil {
		writeJSON(w, http.StatusOK, "{}")
		return
	}
	b, err := json.Marshal(s.events.Config())
	if err != nil {
		errDead.write(w)
		return
	}
	writeJSON(w, http.StatusOK, `{"0":`+string(b)+`}`)
}

func (s *server) models(w http.ResponseWriter, _ *http.Request) {
	created := strconv.FormatInt(s.began.Unix(), 10)
	writeJSON(w, http.StatusOK, `{"object":"list","data":[{"id":`+quote(s.o.name)+
		`,"object":"model","created":`+created+`,"owned_by":"vllm","root":`+quote(s.folder.root)+
		`,"parent":null,"max_model_len":`+strconv.Itoa(s.context)+
		`,"permission":[{"id":"modelperm-`+randomID(8)+`","object":"model_permission","created":`+created+
		`,"allow_create_engine":false,"allow_sampling":true,"allow_logprobs":true,"allow_search_indices":false,`+
		`"allow_view":true,"allow_fine_tuning":false,"organization":"*","group":null,"is_blocking":false}]}]}`)
}

func (s *server) reset(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, `{"success":`+strconv.FormatBool(s.engine.Reset(r.Context()))+`}`)
}

// tokenize turns a prompt, or a chat, into ids.
func (s *server) tokenize(w http.ResponseWriter, r *http.Request) {
	body, p := readBody(w, r)
	if p != nil {
		p.write(w)
		return
	}
	in := gjson.ParseBytes(body)
	ids, p := s.tokens(in)
	if p != nil {
		p.write(w)
		return
	}
	var f fields
	spelled := f.boolean("return_token_strs", in.Get("return_token_strs"), false)
	if p := f.problem(); p != nil {
		p.write(w)
		return
	}
	out := []byte(`{"count":` + strconv.Itoa(len(ids)) + `,"max_model_len":` + strconv.Itoa(s.context) + `,"tokens":`)
	out = append(appendIDs(out, ids), `,"token_strs":`...)
	if !spelled {
		writeJSON(w, http.StatusOK, string(out)+"null}")
		return
	}
	for i, id := range ids {
		out = append(out, "[,"[min(i, 1)])
		out = appendText(out, []byte(s.spell(id)))
	}
	if len(ids) == 0 {
		out = append(out, '[')
	}
	writeJSON(w, http.StatusOK, string(out)+"]}")
}

// tokens are the ids of what a body asks about.
func (s *server) tokens(in gjson.Result) ([]uint32, *problem) {
	if in.Get("messages").Exists() {
		c, p := s.converse(in)
		return c.ids, p
	}
	var f fields
	text := f.text("prompt", in.Get("prompt"))
	if p := f.problem(); p != nil {
		return nil, p
	}
	return s.folder.tok.Encode([]uint32{}, text), nil
}

// spell writes a token as its vocabulary does: each byte as one character,
// added tokens as they are.
func (s *server) spell(id uint32) string {
	t := s.folder.tok.Token(id)
	if added, ok := s.folder.tok.ID(t); ok && added == id {
		return t
	}
	var out []rune
	for i := range len(t) {
		out = append(out, byteRune(t[i]))
	}
	return string(out)
}

// byteRune is the character that stands for a byte in byte-level
// vocabularies: itself where it prints, else one above U+00FF.
func byteRune(b byte) rune {
	switch r := rune(b); {
	case r <= ' ':
		return 0x100 + r
	case r < 0x7F, r > 0xA0 && r != 0xAD:
		return r
	case r <= 0xA0:
		return 0x121 + r - 0x7F
	default:
		return 0x143
	}
}

func (s *server) detokenize(w http.ResponseWriter, r *http.Request) {
	body, p := readBody(w, r)
	if p != nil {
		p.write(w)
		return
	}
	var f fields
	ids := f.ids("tokens", gjson.GetBytes(body, "tokens"))
	if p := f.problem(); p != nil {
		p.write(w)
		return
	}
	for _, id := range ids {
		if int(id) >= s.folder.vocab {
			bad("Token id %d is out of vocabulary", id).write(w)
			return
		}
	}
	writeJSON(w, http.StatusOK, `{"prompt":`+string(appendText(nil, s.folder.tok.Decode(nil, ids)))+`}`)
}
