package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

var background = context.Background()

func pgOpen() string {
	return fmt.Sprintf("postgres://someone@127.0.0.1:%s/public?sslmode=disable", os.Getenv("VARVE_PG"))
}

func pgSecure(password, mode string) string {
	return fmt.Sprintf("host=localhost port=%s user=%s password='%s' dbname=public sslmode=%s sslrootcert=%s",
		os.Getenv("VARVE_PG_SECURE"), os.Getenv("VARVE_USER"), password, mode, os.Getenv("VARVE_CA"))
}

func sqlState(err error) string {
	var found *pgconn.PgError
	if errors.As(err, &found) {
		return found.Code
	}
	return fmt.Sprint(err)
}

func marks(count int) string {
	all := make([]string, count)
	for i := range all {
		all[i] = fmt.Sprintf("$%d", i+1)
	}
	return strings.Join(all, ", ")
}

func checkPgx() {
	check("pgx: right password by SCRAM, in clear and by TLS", func() {
		for _, mode := range []string{"disable", "require", "verify-full"} {
			client := must(pgx.Connect(background, pgSecure(os.Getenv("VARVE_PASSWORD"), mode)))
			var text string
			expect(client.QueryRow(background, "SELECT 'ä'").Scan(&text) == nil && text == "ä", text)
			client.Close(background)
		}
	})
	check("pgx: wrong password is 28P01, an unknown database 3D000", func() {
		_, err := pgx.Connect(background, pgSecure("wrong", "disable"))
		expect(sqlState(err) == "28P01", err)
		_, err = pgx.Connect(background, strings.Replace(pgOpen(), "/public", "/nowhere", 1))
		expect(sqlState(err) == "3D000", err)
	})
	client := must(pgx.Connect(background, pgOpen()))
	defer client.Close(background)
	columns := columnsOf("postgres")
	exec := func(text string) { must(client.Exec(background, text, pgx.QueryExecModeSimpleProtocol)) }
	table := func() {
		exec("DROP TABLE IF EXISTS go_pgx")
		exec(createTable("go_pgx", "postgres"))
	}
	rows := func() (all [][]any) {
		for i, row := range rowsOf(columns) {
			values := []any{int32(i), time.Date(2024, 1, 1, 0, 0, i, 0, time.UTC)}
			for j, each := range columns {
				value := native(each, row[j])
				switch each.Kind {
				case "decimal", "uint64":
					if row[j] != nil {
						number := pgtype.Numeric{}
						expect(number.Scan(*row[j]) == nil)
						value = number
					}
				}
				values = append(values, value)
			}
			all = append(all, values)
		}
		return
	}()
	read := func(arguments ...any) (all [][]any) {
		found := must(client.Query(background, "SELECT "+namesOf(columns)+" FROM go_pgx ORDER BY id", arguments...))
		defer found.Close()
		for found.Next() {
			row := must(found.Values())
			for i, value := range row {
				if number, ok := value.(pgtype.Numeric); ok {
					row[i] = must(number.Value())
				}
			}
			all = append(all, row)
		}
		expect(found.Err() == nil, found.Err())
		return
	}
	modes := []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol}
	for _, mode := range modes {
		check(fmt.Sprint("pgx: every type both ways, mode ", mode), func() {
			table()
			for _, row := range rows {
				tag := must(client.Exec(background, "INSERT INTO go_pgx VALUES ("+marks(len(row))+")", append([]any{mode}, row...)...))
				expect(tag.RowsAffected() == 1, tag)
			}
			if mode == pgx.QueryExecModeSimpleProtocol {
				// Bytes come as a text without its type, '\x00ff', which stays the text that it is.
				exec("UPDATE go_pgx SET bin = X'' WHERE id = 0; UPDATE go_pgx SET bin = X'00ff5c27220a' WHERE id = 1; UPDATE go_pgx SET bin = X'c328' WHERE id = 2")
			}
			compare(columns, read(mode))
			compare(columns, read(mode, pgx.QueryResultFormats{pgx.TextFormatCode}))
		})
	}
	check("pgx: CopyFrom, which is binary", func() {
		table()
		expect(must(client.CopyFrom(background, pgx.Identifier{"go_pgx"}, append([]string{"id", "ts"}, strings.Split(namesOf(columns), ", ")...), pgx.CopyFromRows(rows))) == 4)
		compare(columns, read())
	})
	check("pgx: a batch of 1,000 statements", func() {
		exec("CREATE TABLE IF NOT EXISTS go_batch (h INT PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE)")
		batch := &pgx.Batch{}
		for i := range 1000 {
			batch.Queue("INSERT INTO go_batch VALUES ($1, $2, $3)", i, time.Unix(0, 0), float64(i)/2)
		}
		expect(client.SendBatch(background, batch).Close() == nil)
		var count int
		expect(client.QueryRow(background, "SELECT count(*) FROM go_batch").Scan(&count) == nil && count == 1000, count)
	})
	check("pgx: parameters of every type find their rows", func() {
		for i, row := range rows[:3] {
			for j, each := range columns {
				if each.Kind == "json" || each.Kind == "float32" || each.Name == "odd" {
					continue
				}
				var id int
				err := client.QueryRow(background, fmt.Sprintf("SELECT id FROM go_pgx WHERE %s = $1 AND id = %d", each.Name, i), row[j+2]).Scan(&id)
				expect(err == nil && id == i, each.Name, row[j+2], err)
			}
		}
	})
	check("pgx: errors carry SQLSTATEs, and the connection lives on", func() {
		for _, each := range shared.Errors {
			for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
				_, err := client.Exec(background, each.SQL, mode)
				expect(sqlState(err) == each.SQLState, each.SQL, " ", err)
			}
		}
		exec("SELECT 1")
	})
	check("pgx: streams", func() { expect(sumOf(must(client.Query(background, shared.Stream.SQL))) == shared.Stream.Sum) })
	check("pgx: a transaction passes, a failed one takes nothing but its end", func() {
		tx := must(client.Begin(background))
		must(tx.Exec(background, "SELECT 1"))
		expect(tx.Commit(background) == nil)
		tx = must(client.Begin(background))
		_, err := tx.Exec(background, "SELECT 1/0")
		expect(err != nil)
		_, err = tx.Exec(background, "SELECT 1")
		expect(sqlState(err) == "25P02", err)
		expect(tx.Rollback(background) == nil)
		exec("SELECT 1")
	})
	check("pgx: a context that ends closes the connection; a cancel request is 57000 and leaves it", func() {
		short, stop := context.WithTimeout(background, 300*time.Millisecond)
		defer stop()
		other := must(pgx.Connect(background, pgOpen()))
		_, err := other.Exec(short, shared.Slow)
		expect(errors.Is(err, context.DeadlineExceeded) && other.IsClosed(), err)
		go func() {
			time.Sleep(300 * time.Millisecond)
			client.PgConn().CancelRequest(background)
		}()
		_, err = client.Exec(background, shared.Slow)
		expect(sqlState(err) == "57000", err)
		exec("SELECT 1")
	})
	check("pgx: a pool, queries at once", func() {
		pool := must(pgxpool.New(background, pgOpen()+"&pool_max_conns=8"))
		defer pool.Close()
		atOnce(func(i int) {
			var twice int
			err := pool.QueryRow(background, "SELECT $1::INT * 2", i).Scan(&twice)
			expect(err == nil && twice == i*2, err)
		})
	})
	check("pgx: arrays", func() {
		var count int
		err := client.QueryRow(background, "SELECT count(*) FROM generate_series(1, 5) WHERE value = ANY($1)", []int64{2, 3}).Scan(&count)
		expect(err == nil && count == 2, err, count)
		var texts []string
		expect(client.QueryRow(background, "SELECT ARRAY['a', 'b']").Scan(&texts) == nil && len(texts) == 2, texts)
	})
}

func sumOf(rows pgx.Rows) string {
	defer rows.Close()
	sum := int64(0)
	for rows.Next() {
		sum += must(rows.Values())[0].(int64)
	}
	expect(rows.Err() == nil, rows.Err())
	return fmt.Sprint(sum)
}

// Runs a hundred of them, sixteen at once; a failure of one is told.
func atOnce(work func(i int)) {
	var group sync.WaitGroup
	failures := make(chan any, 100)
	turns := make(chan struct{}, 16)
	for i := range 100 {
		group.Go(func() {
			defer func() {
				if why := recover(); why != nil {
					failures <- why
				}
				<-turns
			}()
			turns <- struct{}{}
			work(i)
		})
	}
	group.Wait()
	close(failures)
	for why := range failures {
		panic(why)
	}
}
