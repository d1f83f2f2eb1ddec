package schemas

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// IcebergFolder names the folder of a table's Iceberg metadata, without a slash at its
// end: what readers of tables are given.
//
//	iceberg/v1/events
//	stream=node%3Aalice/iceberg/v1/events
func IcebergFolder(stream string, table ParquetTable) string {
	return fmt.Sprintf("%siceberg/%s/%s", streamPrefix(stream), ParquetVersion, table)
}

// IcebergFileKey names a manifest, a manifest list or the hint in a table's metadata:
//
//	iceberg/v1/events/metadata/version-hint.text
func IcebergFileKey(stream string, table ParquetTable, name string) string {
	return IcebergFolder(stream, table) + "/metadata/" + name
}

// IcebergMetadataKey names a version of a table's metadata, from 1 on:
//
//	iceberg/v1/events/metadata/v12.metadata.json
func IcebergMetadataKey(stream string, table ParquetTable, version int64) string {
	return IcebergFileKey(stream, table, "v"+strconv.FormatInt(version, 10)+".metadata.json")
}

// ParseIcebergVersion returns the version in a key that IcebergMetadataKey gave; ok is
// false for all others.
func ParseIcebergVersion(key string) (version int64, ok bool) {
	name := strings.TrimSuffix(path.Base(key), ".metadata.json")
	version, err := strconv.ParseInt(strings.TrimPrefix(name, "v"), 10, 64)
	return version, err == nil && version > 0 && path.Base(key) == "v"+strconv.FormatInt(version, 10)+".metadata.json"
}
