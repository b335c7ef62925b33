package engine

import (
	"slices"
	"testing"
)

func TestEnvironment(t *testing.T) {
	ours := []string{
		"PATH=/bin", "HOME=/h", "LC_ALL=C", "CUDA_HOME=/cuda", "OMP_NUM_THREADS=1", "HF_HOME=/hf", "VLLM_CPU_KVCACHE_SPACE=2",
		"HF_TOKEN=hf", "HUGGINGFACE_API_KEY=hf", "VLLM_API_KEY=mine", "VLLM_SERVER_DEV_MODE=1", "VLLM_ALLOW_INSECURE_SERIALIZATION=1",
		"VLLM_DEBUG_LOG_API_SERVER_RESPONSE=1", "ANTHROPIC_API_KEY=a",
		"AWS_SECRET_ACCESS_KEY=b", "OPENAI_API_KEY=c", "GITHUB_TOKEN=d", "SSH_AUTH_SOCK=/s", "https_proxy=http://u:p@h", "LD_PRELOAD=x.so",
		"PYTHONPATH=/p", "LLAMA_ARG_HOST=0.0.0.0", "DYN_SERVER__API_KEY=e", "broken",
	}
	for _, c := range []struct {
		name  string
		added []string
		want  []string
	}{
		{"nothing added", nil, nil},
		{"over ours", []string{"PATH=/engine:/bin", "VLLM_API_KEY=theirs"}, []string{"PATH=/engine:/bin", "VLLM_API_KEY=theirs"}},
		{"asked for by name", []string{"HF_TOKEN={env.HF_TOKEN}", "ALSO={env.GITHUB_TOKEN}"}, []string{"HF_TOKEN=hf", "ALSO=d"}},
		{"asked for and not set", []string{"HF_TOKEN={env.NOT_SET}"}, nil},
		{"not quite that form", []string{"A={env.HF_TOKEN", "B=x{env.HF_TOKEN}"}, []string{"A={env.HF_TOKEN", "B=x{env.HF_TOKEN}"}},
		{"the last one counts", []string{"A=1", "A=2"}, []string{"A=2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := append(slices.Clone(ours[:7]), c.want...)
			if c.name == "over ours" {
				want = append([]string{c.want[0]}, append(slices.Clone(ours[1:7]), c.want[1])...)
			}
			if got := environment(ours, c.added); !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}
