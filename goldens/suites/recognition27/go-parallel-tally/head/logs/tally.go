package logs

import (
	"bufio"
	"errors"
	"os"
	"strings"
	"sync"
)

// Tally counts lines by level over all files.
func Tally(paths []string) (map[string]int, error) {
	counts := make(map[string]int)
	failures := make([]error, len(paths))
	var group sync.WaitGroup
	for at, path := range paths {
		group.Add(1)
		go func(at int, path string) {
			defer group.Done()
			failures[at] = add(counts, path)
		}(at, path)
	}
	group.Wait()
	return counts, errors.Join(failures...)
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
