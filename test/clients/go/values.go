package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// A column of the table that every client writes and reads: texts of its values, by kind.
type column struct {
	Name, Type, Kind, Only string
	Bits                   int
	Values                 []string
}

var shared struct {
	Columns []column
	Errors  []struct {
		SQL, SQLState string
		Number        int
	}
	Slow   string
	Stream struct {
		SQL, Sum string
		Rows     int
	}
}

func loadValues() {
	text, err := os.ReadFile(os.Getenv("VARVE_VALUES"))
	if err == nil {
		err = json.Unmarshal(text, &shared)
	}
	if err != nil {
		panic(err)
	}
}

func columnsOf(dialect string) []column {
	var found []column
	for _, each := range shared.Columns {
		if each.Only == "" || each.Only == dialect {
			found = append(found, each)
		}
	}
	return found
}

func createTable(name, dialect string) string {
	fields := []string{"id INT PRIMARY KEY", "ts TIMESTAMP TIME INDEX"}
	for _, each := range columnsOf(dialect) {
		fields = append(fields, each.Name+" "+each.Type)
	}
	return "CREATE TABLE " + name + " (" + strings.Join(fields, ", ") + ")"
}

func namesOf(columns []column) string {
	names := make([]string, len(columns))
	for i, each := range columns {
		names[i] = each.Name
	}
	return strings.Join(names, ", ")
}

// Rows of the table: one a value, and one of NULLs (nil).
func rowsOf(columns []column) [][]*string {
	rows := make([][]*string, 4)
	for i := range rows {
		for _, each := range columns {
			if i < len(each.Values) {
				rows[i] = append(rows[i], &each.Values[i])
			} else {
				rows[i] = append(rows[i], nil)
			}
		}
	}
	return rows
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// A value as Go has it.
func native(c column, text *string) any {
	if text == nil {
		return nil
	}
	switch c.Kind {
	case "bool":
		return *text == "true"
	case "int":
		return must(strconv.ParseInt(*text, 10, 64))
	case "uint64":
		return must(strconv.ParseUint(*text, 10, 64))
	case "float32":
		return float32(must(strconv.ParseFloat(*text, 32)))
	case "float64":
		return must(strconv.ParseFloat(*text, 64))
	case "binary":
		return must(hex.DecodeString(*text))
	case "date":
		return must(time.Parse("2006-01-02", *text))
	case "timestamp":
		return must(time.Parse("2006-01-02 15:04:05", *text))
	}
	return *text
}

// Fails unless a driver's value is the one of the text.
func same(c column, value any, text *string) {
	fail := func() {
		panic(fmt.Sprintf("column %s (%s): %T %v, not %v", c.Name, c.Type, value, value, native(c, text)))
	}
	if text == nil || value == nil {
		if text != nil || value != nil {
			fail()
		}
		return
	}
	want := native(c, text)
	said := fmt.Sprint(value)
	if raw, ok := value.([]byte); ok {
		said = string(raw)
	}
	isSame := false
	switch c.Kind {
	case "bool":
		isSame = said == *text || (said == "1") == (*text == "true") && (said == "0" || said == "1")
	case "int", "uint64":
		isSame = said == *text
	case "float32":
		isSame = float32(must(strconv.ParseFloat(said, 64))) == want
	case "float64":
		got := must(strconv.ParseFloat(said, 64))
		isSame = got == want || math.IsNaN(got) && math.IsNaN(want.(float64))
	case "decimal":
		a, okA := new(big.Rat).SetString(said)
		b, okB := new(big.Rat).SetString(*text)
		isSame = okA && okB && a.Cmp(b) == 0
	case "binary":
		isSame = said == string(want.([]byte))
	case "date", "timestamp":
		at, ok := value.(time.Time)
		isSame = ok && at.Equal(want.(time.Time)) || !ok && said == *text
	case "json":
		var a, b any
		if raw, ok := value.([]byte); ok {
			isSame = json.Unmarshal(raw, &a) == nil
		} else if text, ok := value.(string); ok {
			isSame = json.Unmarshal([]byte(text), &a) == nil
		} else {
			a, isSame = value, true
		}
		isSame = isSame && json.NewDecoder(bytes.NewBufferString(*text)).Decode(&b) == nil && reflect.DeepEqual(a, b)
	default:
		isSame = said == *text
	}
	if !isSame {
		fail()
	}
}

// Fails unless these are the rows of the table.
func compare(columns []column, found [][]any) {
	want := rowsOf(columns)
	if len(found) != len(want) {
		panic(fmt.Sprintf("%d rows, not %d", len(found), len(want)))
	}
	for i, row := range found {
		for j, each := range columns {
			same(each, row[j], want[i][j])
		}
	}
}
