package main

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
)

// maxColors is what a palette of PNG has room for.
const maxColors = 256

// compact encodes a picture with a palette of its most frequent colours, which is less than half the size:
// what is lost are shades at the edges of letters.
func compact(picture []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, fmt.Errorf("reading a picture: %w", err)
	}
	bounds := full.Bounds()
	counts := make(map[color.Color]int)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[full.At(x, y)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	palette := color.Palette(colors[:min(maxColors, len(colors))])
	nearest := make(map[color.Color]uint8, len(colors))
	for _, c := range colors {
		nearest[c] = uint8(palette.Index(c))
	}
	small := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			small.SetColorIndex(x, y, nearest[full.At(x, y)])
		}
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, small); err != nil {
		return nil, fmt.Errorf("writing a picture: %w", err)
	}
	return out.Bytes(), nil
}
