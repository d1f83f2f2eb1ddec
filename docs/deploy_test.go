package docs_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const deployed = "../deploy/cluster"

// TestConfigurationsAreWellFormed reads every XML file of deploy/cluster to its end.
func TestConfigurationsAreWellFormed(t *testing.T) {
	files := 0
	err := filepath.WalkDir(deployed, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".xml" {
			return err
		}
		files++
		d := xml.NewDecoder(strings.NewReader(read(t, path)))
		for {
			if _, err := d.Token(); err == io.EOF {
				return nil
			} else if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	})
	if err != nil || files < 3 {
		t.Errorf("read %d files, %v", files, err)
	}
}

// composed is what a service of a compose file is told.
type composed struct {
	Hostname    string            `yaml:"hostname"`
	Environment map[string]string `yaml:"environment"`
	Volumes     []string          `yaml:"volumes"`
}

// TestClusterFitsTogether compares the servers that the configurations of deploy/cluster name with the
// services of its compose file: with the macros of another place a server would be refused.
func TestClusterFitsTogether(t *testing.T) {
	var compose struct {
		Services map[string]composed `yaml:"services"`
	}
	if err := yaml.Unmarshal([]byte(read(t, deployed+"/docker-compose.yml")), &compose); err != nil {
		t.Fatal(err)
	}
	var servers struct {
		Keepers []string `xml:"zookeeper>node>host"`
		Shards  []struct {
			Hosts []string `xml:"replica>host"`
		} `xml:"remote_servers>main>shard"`
	}
	var keepers struct {
		Servers []struct {
			ID       string `xml:"id"`
			Hostname string `xml:"hostname"`
		} `xml:"keeper_server>raft_configuration>server"`
	}
	for name, into := range map[string]any{"clickhouse/config.xml": &servers, "keeper/keeper_config.xml": &keepers} {
		if err := xml.Unmarshal([]byte(read(t, filepath.Join(deployed, name))), into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for n, shard := range servers.Shards {
		for _, host := range shard.Hosts {
			s := compose.Services[host]
			if s.Hostname != host || s.Environment["REPLICA"] != host || s.Environment["SHARD"] != fmt.Sprint(n+1) {
				t.Errorf("%s of shard %d has hostname %q, REPLICA %q and SHARD %q", host, n+1, s.Hostname, s.Environment["REPLICA"], s.Environment["SHARD"])
			}
			if dsn := compose.Services["ingest"].Environment["LEDGERLAKE_CLICKHOUSE_DSN"]; !strings.Contains(dsn, host+":9000") {
				t.Errorf("%s is not in the DSN", host)
			}
		}
	}
	for n, k := range keepers.Servers {
		if s := compose.Services[k.Hostname]; n >= len(servers.Keepers) || servers.Keepers[n] != k.Hostname || s.Environment["KEEPER_ID"] != k.ID {
			t.Errorf("%s with id %s is keeper %q of %q", k.Hostname, k.ID, s.Environment["KEEPER_ID"], servers.Keepers)
		}
	}
	if len(servers.Shards) != 2 || len(keepers.Servers) != 3 {
		t.Errorf("%d shards and %d keepers", len(servers.Shards), len(keepers.Servers))
	}
	balanced := regexp.MustCompile(`server (serve-\d):8080`).FindAllStringSubmatch(read(t, deployed+"/nginx.conf"), -1)
	for _, server := range balanced {
		if _, ok := compose.Services[server[1]]; !ok {
			t.Errorf("the balancer names %s, which is no service", server[1])
		}
	}
	if len(balanced) != 3 {
		t.Errorf("the balancer has %d servers", len(balanced))
	}
	for name, s := range compose.Services {
		for _, volume := range s.Volumes {
			if file, _, _ := strings.Cut(volume, ":"); strings.HasPrefix(file, "./") {
				read(t, filepath.Join(deployed, file)) // it exists
			} else if file == "" {
				t.Errorf("%s has a volume without a source", name)
			}
		}
	}
}
