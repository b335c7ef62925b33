package curve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentinfer/dyn/cache/policy"
)

// Point is what one policy finds in a cache of one size.
type Point struct {
	Policy string  `json:"policy"`
	Size   int     `json:"size_tokens"`
	Share  float64 `json:"size_share"` // of the working set
	Hit    float64 `json:"hit"`        // of all prompt tokens
	Turns  int     `json:"turns"`
	Wall   float64 `json:"wall_s"`
}

// Play plays a plan once.
func Play(ctx context.Context, p *Plan, rule policy.Rule, size int) (Point, error) {
	began := time.Now()
	c := newCache(p, rule.New(size), size)
	var hit, prompt int
	for i := range p.turns {
		if i&1023 == 0 && ctx.Err() != nil {
			return Point{}, ctx.Err()
		}
		hit += c.serve(i)
		prompt += p.turns[i].prompt
	}
	return Point{
		Policy: rule.Name, Size: size, Share: float64(size) / float64(p.Working), Hit: float64(hit) / float64(max(prompt, 1)),
		Turns: len(p.turns), Wall: time.Since(began).Seconds(),
	}, nil
}

// Sizes reads sizes of caches: tokens, "500000", "2M", "64k", or a share of a
// plan's working set, "0.2x".
func (p *Plan) Sizes(texts []string) (sizes []int, err error) {
	for _, text := range texts {
		number, unit := text, 1.0
		for _, u := range []struct {
			end string
			is  float64
		}{{"x", float64(p.Working)}, {"M", 1e6}, {"k", 1e3}} {
			if cut, ok := strings.CutSuffix(text, u.end); ok {
				number, unit = cut, u.is
			}
		}
		x, err := strconv.ParseFloat(number, 64)
		if err != nil || !(x > 0) || x*unit > math.MaxInt32*1024.0 {
			return nil, fmt.Errorf("size %q is neither tokens, such as 2M, nor a share of the working set, such as 0.2x", text)
		}
		sizes = append(sizes, max(int(x*unit)/p.Block, 2)*p.Block)
	}
	if len(sizes) == 0 {
		return nil, errors.New("no size is given")
	}
	return sizes, nil
}

// Table plays a plan through every policy and size, so many at a time. Points
// come by policy, then size, each in the order given. The first error ends all.
func Table(ctx context.Context, p *Plan, rules []policy.Rule, sizes []int, parallel int) ([]Point, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	points := make([]Point, len(rules)*len(sizes))
	next := make(chan int)
	var all sync.WaitGroup
	for range max(1, min(parallel, len(points))) {
		all.Go(func() {
			for i := range next {
				point, err := Play(ctx, p, rules[i/len(sizes)], sizes[i%len(sizes)])
				if err != nil {
					stop(err)
				}
				points[i] = point
			}
		})
	}
	for i := range points {
		next <- i
	}
	close(next)
	all.Wait()
	return points, context.Cause(ctx)
}
