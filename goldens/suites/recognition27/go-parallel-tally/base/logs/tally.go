package logs

import (
	"bufio"
	"os"
	"strings"
)

// Tally counts lines by level over all files.
func Tally(paths []string) (map[string]int, error) {
	counts := make(map[string]int)
	for _, path := range paths {
		if err := add(counts, path); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

func add(counts map[string]int, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		level, _, _ := strings.Cut(lines.Text(), " ")
		counts[level]++
	}
	return lines.Err()
}
