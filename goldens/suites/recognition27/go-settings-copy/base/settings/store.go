package settings

import (
	"encoding/json"
	"fmt"
	"os"
)

// Settings is what an operator can change without a restart.
type Settings struct {
	Region  string   `json:"region"`
	Workers int      `json:"workers"`
	Notify  []string `json:"notify"`
}

// Load reads settings from a file.
func Load(path string) (Settings, error) {
	var settings Settings
	data, err := os.ReadFile(path)
	if err != nil {
		return settings, fmt.Errorf("read settings: %w", err)
	}
	if err := json.Unmarshal(data, &settings); err != nil {
		return settings, fmt.Errorf("parse settings: %w", err)
	}
	return settings, nil
}

// Save writes settings to a file.
func Save(path string, settings Settings) error {
	data, err := json.MarshalIndent(settings, "", "  ")
	if err != nil {
		return fmt.Errorf("encode settings: %w", err)
	}
	return os.WriteFile(path, data, 0o600)
}
