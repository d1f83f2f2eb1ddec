package settings

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"
)

const EnvPrefix = "LEDGERLAKE_"

// EnvName is the variable of a setting.
func EnvName(flag string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// FileKey is the key of a setting in the file.
func FileKey(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// Fill sets what no flag has set from the environment and the file at path, which
// may be empty. settings are all settings, flags those that the command line may set.
func Fill(settings, flags *pflag.FlagSet, path string) error {
	file, err := readConfigFile(path)
	if err != nil {
		return AsUsage(err)
	}
	var errs []error
	settings.VisitAll(func(s *pflag.Flag) {
		entry, inFile := file[FileKey(s.Name)]
		delete(file, FileKey(s.Name))
		if f := flags.Lookup(s.Name); f != nil && f.Changed {
			return
		}
		value, source := entry.value, fmt.Sprintf("%s:%d: %s", path, entry.line, entry.key)
		if v, ok := os.LookupEnv(EnvName(s.Name)); ok {
			value, source, inFile = v, EnvName(s.Name), true
		}
		if inFile && settings.Set(s.Name, value) != nil {
			errs = append(errs, fmt.Errorf("%s must be %s, not %q", source, WantedValue(s), value))
		}
	})
	var keys []string
	settings.VisitAll(func(s *pflag.Flag) { keys = append(keys, FileKey(s.Name)) })
	for _, key := range slices.SortedFunc(maps.Keys(file), func(x, y string) int { return file[x].line - file[y].line }) {
		errs = append(errs, fmt.Errorf("%s:%d: unknown key %q%s ledgerlake config lists the keys", path, file[key].line, key, DidYouMean(key, "", keys)))
	}
	errs = append(errs, checkVariables(settings, os.Environ()))
	return AsUsage(errors.Join(errs...))
}

// ofKubernetes matches the variables that Kubernetes gives all pods beside a service with the name
// ledgerlake.
var ofKubernetes = regexp.MustCompile(`^LEDGERLAKE_([A-Z0-9_]+_)?(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// checkVariables refuses variables that are almost those of settings: what they were meant to set
// would stay as it is, silently. Others are not ours to judge.
func checkVariables(settings *pflag.FlagSet, environ []string) error {
	known := []string{"CONFIG"} // without the prefix, which all have in common
	settings.VisitAll(func(s *pflag.Flag) { known = append(known, strings.TrimPrefix(EnvName(s.Name), EnvPrefix)) })
	var errs []error
	for _, variable := range slices.Sorted(slices.Values(environ)) {
		name, _, _ := strings.Cut(variable, "=")
		word, ours := strings.CutPrefix(name, EnvPrefix)
		if !ours || slices.Contains(known, word) || ofKubernetes.MatchString(name) {
			continue
		}
		if meant := Nearest(word, known); meant != "" {
			errs = append(errs, fmt.Errorf("%s is not a setting; did you mean %s%s? Correct it, or unset it", name, EnvPrefix, meant))
		}
	}
	return errors.Join(errs...)
}

// fileEntry is the value of one setting in the configuration file, the key that sets it, and its line.
type fileEntry struct {
	value, key string
	line       int
}

// readConfigFile returns what the file at path sets, nothing without a path.
func readConfigFile(path string) (map[string]fileEntry, error) {
	if path == "" {
		return nil, nil
	}
	if info, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("--config %s: there is no such file; ledgerlake config > %s writes one", path, path)
	} else if err == nil && info.IsDir() {
		return nil, fmt.Errorf("--config %s is a folder: name the YAML file in it", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil {
		return nil, fmt.Errorf("%s is not YAML: %s; write lines such as listen: 127.0.0.1:8080", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(document.Content) == 0 {
		return nil, nil // an empty file sets nothing
	}
	top := document.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:%d: settings must be lines such as listen: 127.0.0.1:8080", path, top.Line)
	}
	entries := make(map[string]fileEntry)
	for i := 0; i < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		members, err := networkKeysOf(key, value)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %s %w", path, key.Line, key.Value, err)
		}
		for j := 0; j < len(members); j += 2 {
			if err := addEntry(entries, members[j], members[j+1]); err != nil {
				return nil, fmt.Errorf("%s:%w", path, err)
			}
		}
	}
	return entries, nil
}

// addEntry adds what one key sets. Its error begins with the line.
func addEntry(entries map[string]fileEntry, key, value *yaml.Node) (err error) {
	name, entry := key.Value, fileEntry{value.Value, key.Value, key.Line}
	network, ofNetwork := networkKeys[name]
	switch {
	case ofNetwork:
		name = FileKey(network.setting)
		if entry.value, err = network.value(value); err != nil {
			return fmt.Errorf("%d: %s %w", key.Line, key.Value, err)
		}
	case value.Kind != yaml.ScalarNode:
		return fmt.Errorf("%d: %s must be one plain value; separate several by commas", value.Line, key.Value)
	case value.Tag == "!!null":
		entry.value = ""
	}
	if before, again := entries[name]; again {
		return fmt.Errorf("%d: %s is already set in line %d: remove one", key.Line, key.Value, before.line)
	}
	entries[name] = entry
	return nil
}
