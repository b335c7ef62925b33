package cache

// Tables use mixed hashes: engines may count their blocks 1, 2, 3. To mix is
// reversible, so a mixed hash is as good a name as the hash.
const (
	mixer   = 0xd6e8feb86659fd93
	unmixer = 0xcfee444d8b59a89b // mixer * unmixer = 1
)

func mix(x uint64) uint64 {
	x = (x ^ x>>32) * mixer
	return x ^ x>>32
}

func unmix(x uint64) uint64 {
	x = (x ^ x>>32) * unmixer
	return x ^ x>>32
}

// mixAll appends hashes mixed.
func mixAll(dst, hashes []uint64) []uint64 {
	for _, h := range hashes {
		dst = append(dst, mix(h))
	}
	return dst
}
