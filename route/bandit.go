package route

import (
	"math"
	"math/rand/v2"
)

// features are how many figures describe a choice to a linear arm.
const features = 9

// linear is a Bayesian linear regression of rewards on features: what a
// worker's choices brought.
type linear struct {
	A [features][features]float64 `json:"a"` // λI + Σ x·xᵀ, the old ones forgotten by and by
	B [features]float64           `json:"b"` // Σ reward·x
}

// newLinear is one that has seen nothing.
func newLinear(lambda float64) *linear {
	l := &linear{}
	for i := range features {
		l.A[i][i] = lambda
	}
	return l
}

// learn takes one choice and its reward.
func (l *linear) learn(x [features]float64, reward, forget, lambda float64) {
	for i := range features {
		for j := range features {
			l.A[i][j] = forget*l.A[i][j] + x[i]*x[j]
		}
		l.A[i][i] += (1 - forget) * lambda
		l.B[i] = forget*l.B[i] + reward*x[i]
	}
}

// guess is the reward that is expected of a choice and how unsure that is: the
// mean and standard deviation of x·θ, θ having the mean A⁻¹b and covariance
// A⁻¹. false means that the matrix is none of a regression.
func (l *linear) guess(x [features]float64) (mean, deviation float64, ok bool) {
	var root [features][features]float64 // Cholesky's: A = root·rootᵀ
	for i := range features {
		for j := range i + 1 {
			sum := l.A[i][j]
			for k := range j {
				sum -= root[i][k] * root[j][k]
			}
			switch {
			case i != j:
				root[i][j] = sum / root[j][j]
			case sum <= 0 || math.IsNaN(sum):
				return 0, 0, false
			default:
				root[i][i] = math.Sqrt(sum)
			}
		}
	}
	var y, z [features]float64 // root⁻¹x, root⁻¹b
	for i := range features {
		y[i], z[i] = x[i], l.B[i]
		for k := range i {
			y[i] -= root[i][k] * y[k]
			z[i] -= root[i][k] * z[k]
		}
		y[i] /= root[i][i]
		z[i] /= root[i][i]
	}
	square := 0.0
	for i := range features {
		mean += y[i] * z[i]
		square += y[i] * y[i]
	}
	return mean, math.Sqrt(square), !math.IsNaN(mean) && !math.IsInf(mean, 0)
}

// gamma draws from the gamma distribution of a shape of at least 1 (Marsaglia
// and Tsang, 2000).
func gamma(r *rand.Rand, shape float64) float64 {
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if u := r.Float64(); u < 1 && math.Log(1-u) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// beta draws from the beta distribution of an arm that won and lost so often,
// once each before it was ever tried.
func beta(r *rand.Rand, won, lost float64) float64 {
	a, b := gamma(r, 1+won), gamma(r, 1+lost)
	return a / (a + b)
}
