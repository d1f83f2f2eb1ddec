package values

import (
	"slices"
	"strings"
)

// The network's names and their vendor-neutral aliases differ by words:
//
//	package  splice-amulet               app-coin
//	module   Splice.AmuletRules          App.CoinRules
//	entity   LockedAmulet                LockedCoin
//	choice   LockedAmulet_ExpireAmulet   LockedCoin_ExpireCoin
const (
	networkPackage, neutralPackage = "splice-", "app-"
	networkModule, neutralModule   = "Splice.", "App."
	networkWord, neutralWord       = "Amulet", "Coin"
)

// spelling is one direction of the alias table.
type spelling struct {
	fromPackage, toPackage string
	fromModule, toModule   string
	fromWord, toWord       string
}

// Neutral returns the neutral spelling of a name in the network's spelling: a package
// name, module, entity or choice, or an id Module:Entity, package:Module:Entity or
// #package:Module:Entity, where package may also be a package id. An id whose module is not
// one of the network's, and any other name without the network's words, comes back as it
// is:
//
//	Neutral("splice-amulet:Splice.Amulet:Amulet") // app-coin:App.Coin:Coin
//	Neutral("AmuletRules_Transfer")               // CoinRules_Transfer
func Neutral(id string) string {
	return spelling{
		fromPackage: networkPackage, toPackage: neutralPackage,
		fromModule: networkModule, toModule: neutralModule,
		fromWord: networkWord, toWord: neutralWord,
	}.id(id)
}

// Network is the inverse of Neutral. A name of an entity or choice alone does not tell
// whose it is: Network changes the word Coin in it even if it belongs to another
// application.
func Network(id string) string {
	return spelling{
		fromPackage: neutralPackage, toPackage: networkPackage,
		fromModule: neutralModule, toModule: networkModule,
		fromWord: neutralWord, toWord: networkWord,
	}.id(id)
}

// Spellings returns the names as they are and in both spellings, sorted and each once: the store
// keeps names as they came.
func Spellings(names ...string) []string {
	var all []string
	for _, name := range names {
		all = append(all, name, Network(name), Neutral(name))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s spelling) id(id string) string {
	head, entity, qualified := cutLast(id, ':')
	if !qualified {
		return s.single(id)
	}
	pkg, module, packaged := cutLast(head, ':')
	if !packaged {
		pkg, module = "", head
	}
	if !strings.HasPrefix(module, s.fromModule) {
		return id
	}
	name := s.module(module) + ":" + replaceWord(entity, s.fromWord, s.toWord)
	if !packaged {
		return name
	}
	return s.packageName(pkg) + ":" + name
}

func (s spelling) single(name string) string {
	switch {
	case strings.HasPrefix(name, s.fromPackage) || strings.HasPrefix(name, "#"+s.fromPackage):
		return s.packageName(name)
	case strings.HasPrefix(name, s.fromModule):
		return s.module(name)
	}
	return replaceWord(name, s.fromWord, s.toWord)
}

func (s spelling) packageName(name string) string {
	bare, hash := strings.CutPrefix(name, "#")
	rest, ok := strings.CutPrefix(bare, s.fromPackage)
	if !ok {
		return name
	}
	words := strings.Split(rest, "-")
	for i, w := range words {
		if w == strings.ToLower(s.fromWord) {
			words[i] = strings.ToLower(s.toWord)
		}
	}
	bare = s.toPackage + strings.Join(words, "-")
	if hash {
		return "#" + bare
	}
	return bare
}

func (s spelling) module(name string) string {
	rest := strings.TrimPrefix(name, s.fromModule)
	return s.toModule + replaceWord(rest, s.fromWord, s.toWord)
}

// replaceWord replaces from in a camel-case name where it is a word of its own: not
// followed by a lower-case letter.
func replaceWord(name, from, to string) string {
	if !strings.Contains(name, from) {
		return name
	}
	var out strings.Builder
	for {
		i := strings.Index(name, from)
		if i < 0 {
			out.WriteString(name)
			return out.String()
		}
		end := i + len(from)
		out.WriteString(name[:i])
		if end < len(name) && name[end] >= 'a' && name[end] <= 'z' {
			out.WriteString(from)
		} else {
			out.WriteString(to)
		}
		name = name[end:]
	}
}

// cutLast cuts s at its last sep.
func cutLast(s string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}
