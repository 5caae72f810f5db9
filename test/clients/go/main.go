// Go's drivers against Varve: pgx, lib/pq, go-sql-driver/mysql. Prints a line a check.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// Prints `ok NAME`, or `FAIL NAME: why` where the work panics or takes more than 30 seconds.
func check(name string, work func()) {
	ended := make(chan string, 1)
	go func() {
		defer func() {
			if why := recover(); why != nil {
				if os.Getenv("VERBOSE") != "" {
					debug.PrintStack()
				}
				ended <- fmt.Sprintf("FAIL %s: %.400s", name, strings.Join(strings.Fields(fmt.Sprint(why)), " "))
			} else {
				ended <- "ok " + name
			}
		}()
		work()
	}()
	select {
	case line := <-ended:
		fmt.Println(line)
	case <-time.After(30 * time.Second):
		fmt.Printf("FAIL %s: no end after 30 s\n", name)
	}
}

func expect(holds bool, why ...any) {
	if !holds {
		panic(fmt.Sprint(why...))
	}
}

func main() {
	loadValues()
	checkPgx()
	checkPq()
	checkMysql()
	fmt.Println("done")
}
