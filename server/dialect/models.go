package dialect

import "time"

// ModelInfo is a served model, as far as model lists tell.
type ModelInfo struct {
	ID      string
	Name    string    // for people; "" uses ID
	Context int       // tokens, prompt and answer together; 0 unknown
	Created time.Time // zero is left at the epoch
}

func (m ModelInfo) name() string {
	if m.Name == "" {
		return m.ID
	}
	return m.Name
}

func (m ModelInfo) unix() int64 {
	if m.Created.IsZero() {
		return 0
	}
	return m.Created.Unix()
}

// ModelsOpenAI returns the list of GET /v1/models. It holds Codex's catalog
// too, which other clients do not look at.
func ModelsOpenAI(ms []ModelInfo) []byte {
	b := []byte(`{"object":"list","data":[`)
	for i, m := range ms {
		b = comma(b, i)
		b = appendModelOpenAI(b, m)
	}
	b = append(b, `],"models":[`...)
	for i, m := range ms {
		b = appendModelCodex(comma(b, i), m, i)
	}
	return append(b, `]}`...)
}

// ModelOpenAI returns one model, for GET /v1/models/{id}.
func ModelOpenAI(m ModelInfo) []byte { return appendModelOpenAI(nil, m) }

func appendModelOpenAI(b []byte, m ModelInfo) []byte {
	b = appendString(append(b, `{"id":`...), m.ID)
	b = appendInt(append(b, `,"object":"model","created":`...), m.unix())
	b = append(b, `,"owned_by":"dyn"`...)
	if m.Context > 0 {
		b = appendInt(append(b, `,"max_model_len":`...), int64(m.Context))
		b = appendInt(append(b, `,"context_length":`...), int64(m.Context))
	}
	return append(b, '}')
}

// ModelsAnthropic returns the list for clients that send anthropic-version.
func ModelsAnthropic(ms []ModelInfo) []byte {
	b := []byte(`{"data":[`)
	for i, m := range ms {
		b = comma(b, i)
		b = appendModelAnthropic(b, m)
	}
	b = append(b, `],"has_more":false,"first_id":`...)
	if len(ms) == 0 {
		return append(b, `null,"last_id":null}`...)
	}
	b = appendString(b, ms[0].ID)
	b = appendString(append(b, `,"last_id":`...), ms[len(ms)-1].ID)
	return append(b, '}')
}

// ModelAnthropic returns one model in Anthropic's form.
func ModelAnthropic(m ModelInfo) []byte { return appendModelAnthropic(nil, m) }

func appendModelAnthropic(b []byte, m ModelInfo) []byte {
	b = appendString(append(b, `{"type":"model","id":`...), m.ID)
	b = appendString(append(b, `,"display_name":`...), m.name())
	b = appendString(append(b, `,"created_at":`...), time.Unix(m.unix(), 0).UTC().Format(time.RFC3339))
	if m.Context > 0 {
		b = appendInt(append(b, `,"max_input_tokens":`...), int64(m.Context))
	}
	return append(b, '}')
}
