package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/lib/pq"
)

// What two drivers of database/sql have in common.
type sqlDriver struct {
	name, dialect, table string
	open                 func(options string) *sql.DB
	marks                func(count int) string
	code                 func(err error) string
	wanted               func(i int) string // the code of the shared error `i`
	cancelled            string
}

func rowsFound(found *sql.Rows) (all [][]any) {
	defer found.Close()
	width := len(must(found.Columns()))
	for found.Next() {
		row, places := make([]any, width), make([]any, width)
		for i := range row {
			places[i] = &row[i]
		}
		expect(found.Scan(places...) == nil)
		all = append(all, row)
	}
	expect(found.Err() == nil, found.Err())
	return
}

func (d sqlDriver) checkAll(options []string) {
	columns := columnsOf(d.dialect)
	db := d.open(options[0])
	defer db.Close()
	exec := func(text string, values ...any) sql.Result { return must(db.Exec(text, values...)) }
	var rows [][]any
	for i, row := range rowsOf(columns) {
		values := []any{i, time.Date(2024, 1, 1, 0, 0, i, 0, time.UTC)}
		for j, each := range columns {
			values = append(values, native(each, row[j]))
		}
		rows = append(rows, values)
	}
	for _, option := range options {
		check(d.name+": every type both ways"+strings.TrimRight(", "+option, ", "), func() {
			other := d.open(option)
			defer other.Close()
			must(other.Exec("DROP TABLE IF EXISTS " + d.table))
			must(other.Exec(createTable(d.table, d.dialect)))
			insert := must(other.Prepare("INSERT INTO " + d.table + " VALUES (" + d.marks(len(columns)+2) + ")"))
			for _, row := range rows {
				expect(must(must(insert.Exec(row...)).RowsAffected()) == 1)
			}
			insert.Close()
			text := "SELECT " + namesOf(columns) + " FROM " + d.table + " ORDER BY id"
			compare(columns, rowsFound(must(other.Query(text))))
			prepared := must(other.Prepare(text))
			defer prepared.Close()
			compare(columns, rowsFound(must(prepared.Query())))
			for i, row := range rows[:3] {
				for j, each := range columns {
					if each.Kind == "json" || each.Kind == "float32" {
						continue
					}
					var id int
					where := fmt.Sprintf("SELECT id FROM %s WHERE %s = %s AND id = %d", d.table, each.Name, d.marks(1), i)
					err := other.QueryRow(where, row[j+2]).Scan(&id)
					expect(err == nil && id == i, each.Name, " ", row[j+2], " ", err)
				}
			}
		})
	}
	check(d.name+": errors carry their codes, and the connection lives on", func() {
		for i, each := range shared.Errors {
			_, err := db.Exec(each.SQL)
			expect(d.code(err) == d.wanted(i), each.SQL, " ", err)
		}
		exec("SELECT 1")
	})
	check(d.name+": streams", func() {
		found, sum := must(db.Query(shared.Stream.SQL)), int64(0)
		defer found.Close()
		for found.Next() {
			var value int64
			var text string
			expect(found.Scan(&value, &text) == nil)
			sum += value
		}
		expect(found.Err() == nil && fmt.Sprint(sum) == shared.Stream.Sum, found.Err(), sum)
	})
	check(d.name+": transactions pass", func() {
		tx := must(db.Begin())
		must(tx.Exec("SELECT 1"))
		expect(tx.Commit() == nil)
		tx = must(db.Begin())
		expect(tx.Rollback() == nil)
	})
	check(d.name+": a context that ends stops a query, others go on", func() {
		short, stop := context.WithTimeout(background, 300*time.Millisecond)
		defer stop()
		_, err := db.ExecContext(short, shared.Slow)
		expect(errors.Is(err, context.DeadlineExceeded) || d.code(err) == d.cancelled, err)
		exec("SELECT 1")
	})
	check(d.name+": column types", func() {
		types := must(must(db.Query("SELECT " + namesOf(columns) + " FROM " + d.table)).ColumnTypes())
		expect(len(types) == len(columns) && types[0].DatabaseTypeName() != "", types)
		for i, each := range columns {
			if precision, scale, ok := types[i].DecimalSize(); each.Kind == "decimal" && ok {
				expect(fmt.Sprintf("DECIMAL(%d,%d)", precision, scale) == each.Type, each.Name, precision, scale)
			}
		}
	})
	check(d.name+": a pool, queries at once", func() {
		db.SetMaxOpenConns(8)
		atOnce(func(i int) {
			var twice int
			err := db.QueryRow("SELECT CAST("+d.marks(1)+" AS INT) * 2", i).Scan(&twice)
			expect(err == nil && twice == i*2, err)
		})
	})
}

func checkPq() {
	open := func(options string) *sql.DB { return must(sql.Open("postgres", pgOpen()+options)) }
	code := func(err error) string {
		var found *pq.Error
		if errors.As(err, &found) {
			return string(found.Code)
		}
		return fmt.Sprint(err)
	}
	check("lib/pq: passwords, TLS, an unknown database", func() {
		for _, mode := range []string{"disable", "require", "verify-full"} {
			expect(must(sql.Open("postgres", pgSecure(os.Getenv("VARVE_PASSWORD"), mode))).Ping() == nil, mode)
		}
		err := must(sql.Open("postgres", pgSecure("wrong", "disable"))).Ping()
		expect(code(err) == "28P01", err)
		err = must(sql.Open("postgres", strings.Replace(pgOpen(), "/public", "/nowhere", 1))).Ping()
		expect(code(err) == "3D000", err)
	})
	wanted := func(i int) string { return shared.Errors[i].SQLState }
	sqlDriver{"lib/pq", "postgres", "go_pq", open, marks, code, wanted, "57000"}.checkAll([]string{"", "&binary_parameters=yes"})
	check("lib/pq: COPY of rows", func() {
		db := open("")
		defer db.Close()
		must(db.Exec("CREATE TABLE IF NOT EXISTS go_pq_copy (h INT PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE, s STRING)"))
		tx := must(db.Begin())
		copying := must(tx.Prepare(pq.CopyIn("go_pq_copy", "h", "ts", "v", "s")))
		for i := range 1000 {
			must(copying.Exec(i, time.Unix(int64(i), 0), float64(i)/2, "tab\tand \\ line\n"))
		}
		must(copying.Exec())
		expect(copying.Close() == nil && tx.Commit() == nil)
		var count int
		expect(db.QueryRow("SELECT count(*) FROM go_pq_copy WHERE s = $1", "tab\tand \\ line\n").Scan(&count) == nil && count == 1000, count)
	})
	check("lib/pq: arrays", func() {
		var count int
		err := open("").QueryRow("SELECT count(*) FROM generate_series(1, 5) WHERE value = ANY($1)", pq.Array([]int64{2, 3})).Scan(&count)
		expect(err == nil && count == 2, err)
	})
}

func checkMysql() {
	address := func(user, variable, options string) string {
		return fmt.Sprintf("%s@tcp(localhost:%s)/public?%s", user, os.Getenv(variable), options)
	}
	open := func(options string) *sql.DB {
		return must(sql.Open("mysql", address("someone", "VARVE_MYSQL", options)))
	}
	code := func(err error) string {
		var found *mysql.MySQLError
		if errors.As(err, &found) {
			return fmt.Sprint(found.Number)
		}
		return fmt.Sprint(err)
	}
	check("go-sql-driver: passwords, TLS, an unknown database", func() {
		roots := x509.NewCertPool()
		expect(roots.AppendCertsFromPEM(must(os.ReadFile(os.Getenv("VARVE_CA")))))
		expect(mysql.RegisterTLSConfig("varve", &tls.Config{RootCAs: roots, ServerName: "localhost"}) == nil)
		user := os.Getenv("VARVE_USER") + ":"
		for _, options := range []string{"", "tls=skip-verify", "tls=varve"} {
			err := must(sql.Open("mysql", address(user+os.Getenv("VARVE_PASSWORD"), "VARVE_MYSQL_SECURE", options))).Ping()
			expect(err == nil, options, err)
		}
		err := must(sql.Open("mysql", address(user+"wrong", "VARVE_MYSQL_SECURE", ""))).Ping()
		expect(code(err) == "1698", err)
		err = must(sql.Open("mysql", strings.Replace(address("x", "VARVE_MYSQL", ""), "/public", "/nowhere", 1))).Ping()
		expect(code(err) == "1102", err)
	})
	wanted := func(i int) string { return fmt.Sprint(shared.Errors[i].Number) }
	list := func(count int) string { return strings.TrimSuffix(strings.Repeat("?, ", count), ", ") }
	driver := sqlDriver{"go-sql-driver", "mysql", "go_mysql", open, list, code, wanted, "1317"}
	driver.checkAll([]string{"parseTime=true", "", "parseTime=true&interpolateParams=true"})
	check("go-sql-driver: several statements, rows of more than 16 MiB", func() {
		db := open("multiStatements=true")
		defer db.Close()
		found := must(db.Query("SELECT 1; SELECT 2"))
		expect(len(rowsFoundOnce(found)) == 1 && found.NextResultSet() && len(rowsFoundOnce(found)) == 1)
		found.Close()
		var size int
		expect(db.QueryRow("SELECT length(?)", strings.Repeat("a", 20_000_000)).Scan(&size) == nil && size == 20_000_000, size)
	})
	check("go-sql-driver: nanoseconds of a time are micros in binary, and a text that it does not take as a time", func() {
		db := open("parseTime=true")
		defer db.Close()
		var at time.Time
		text := "SELECT CAST('2024-01-01 00:00:00.123456789' AS TIMESTAMP(9)) AS t"
		err := db.QueryRow(text+" WHERE 1 = ?", 1).Scan(&at)
		expect(err == nil && at.Nanosecond() == 123456000, err, at)
		err = db.QueryRow(text).Scan(&at)
		expect(err != nil && strings.Contains(err.Error(), "invalid time"), err)
	})
}

// The rows of one result of several.
func rowsFoundOnce(found *sql.Rows) (all []int) {
	for found.Next() {
		var value int
		expect(found.Scan(&value) == nil)
		all = append(all, value)
	}
	return
}
