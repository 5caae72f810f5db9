//! tokio-postgres: prepared and binary; copies, cancels.

use crate::values::{Shared, create_table, names, second};
use crate::{Outcome, check, env, expect, said};
use futures_util::{SinkExt, TryStreamExt, future, pin_mut};
use std::time::Duration;
use tokio_postgres::{Client, Config, NoTls, types::ToSql};

fn open() -> Config {
    let mut config = Config::new();
    config.host("127.0.0.1").port(env("VARVE_PG").parse().expect("a port")).user("someone").dbname("public");
    config
}

async fn connect(config: &Config) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

fn state(error: &tokio_postgres::Error) -> String {
    error.code().map_or_else(|| said(error), |code| code.code().to_string())
}

pub async fn run(shared: &Shared) {
    check("tokio-postgres: right password by SCRAM, a wrong one, an unknown database", async {
        let mut secure = Config::new();
        secure.host("127.0.0.1").port(env("VARVE_PG_SECURE").parse().map_err(said)?).user(env("VARVE_USER")).dbname("public");
        let client = connect(secure.clone().password(env("VARVE_PASSWORD"))).await.map_err(said)?;
        expect(client.query_one("SELECT 'ä'", &[]).await.map_err(said)?.get::<_, String>(0) == "ä", "ä")?;
        let wrong = connect(secure.password("wrong")).await.err().ok_or("no error")?;
        expect(state(&wrong) == "28P01", &wrong)?;
        let unknown = connect(open().dbname("nowhere")).await.err().ok_or("no error")?;
        expect(state(&unknown) == "3D000", &unknown)
    })
    .await;
    let client = connect(&open()).await.expect("a connection");
    check("tokio-postgres: every type but numeric both ways, prepared and binary", types(shared, &client)).await;
    check("tokio-postgres: errors carry SQLSTATEs, and the connection lives on", async {
        for each in &shared.errors {
            let prepared = client.query(&each.sql, &[]).await.err().ok_or("no error")?;
            let simple = client.simple_query(&each.sql).await.err().ok_or("no error")?;
            expect(state(&prepared) == each.state && state(&simple) == each.state, (&each.sql, prepared))?;
        }
        client.query("SELECT 1", &[]).await.map(|_| ()).map_err(said)
    })
    .await;
    check("tokio-postgres: streams, and queries in a pipeline", async {
        let rows = client.query_raw(&shared.stream, std::iter::empty::<i32>()).await.map_err(said)?;
        pin_mut!(rows);
        let mut sum = 0;
        while let Some(row) = rows.try_next().await.map_err(said)? {
            sum += row.get::<_, i64>(0);
        }
        expect(sum == shared.sum, sum)?;
        let asked: Vec<i32> = (0..50).collect();
        let text = client.prepare("SELECT $1::INT").await.map_err(said)?;
        let answers = future::try_join_all(asked.iter().map(async |i| client.query_one(&text, &[i]).await)).await;
        expect(answers.map_err(said)?.iter().map(|row| row.get::<_, i32>(0)).eq(0..50), "in turn")
    })
    .await;
    check("tokio-postgres: COPY in and out", async {
        client.batch_execute("CREATE TABLE IF NOT EXISTS rust_copy (h INT PRIMARY KEY, ts TIMESTAMP TIME INDEX, s STRING)").await.map_err(said)?;
        let sink = client.copy_in::<_, bytes::Bytes>("COPY rust_copy FROM STDIN WITH (FORMAT csv)").await.map_err(said)?;
        pin_mut!(sink);
        sink.send(bytes::Bytes::from_static(b"1,2024-01-01 00:00:00,a\n2,2024-01-01 00:00:00,\n")).await.map_err(said)?;
        expect(sink.finish().await.map_err(said)? == 2, "rows")?;
        let out = client.copy_out("COPY (SELECT h, s FROM rust_copy ORDER BY h) TO STDOUT").await.map_err(said)?;
        let parts: Vec<_> = out.try_collect().await.map_err(said)?;
        expect(parts.concat() == b"1\ta\n2\t\\N\n", parts)
    })
    .await;
    check("tokio-postgres: a cancelled query is 57000 and leaves a usable connection", async {
        let token = client.cancel_token();
        let cancel = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            token.cancel_query(NoTls).await
        };
        let (answer, told) = future::join(client.query(&shared.slow, &[]), cancel).await;
        told.map_err(said)?;
        let error = answer.err().ok_or("no error")?;
        expect(state(&error) == "57000", &error)?;
        client.query("SELECT 1", &[]).await.map(|_| ()).map_err(said)
    })
    .await;
    check("tokio-postgres: transactions pass", async {
        let mut client = connect(&open()).await.map_err(said)?;
        let inner = client.transaction().await.map_err(said)?;
        inner.query("SELECT 1", &[]).await.map_err(said)?;
        inner.commit().await.map_err(said)?;
        let inner = client.transaction().await.map_err(said)?;
        inner.query("SELECT 1/0", &[]).await.err().ok_or("no error")?;
        inner.rollback().await.map_err(said)?;
        client.query("SELECT 1", &[]).await.map(|_| ()).map_err(said)
    })
    .await;
}

async fn types(shared: &Shared, client: &Client) -> Outcome {
    let columns: Vec<_> = shared.columns("postgres").into_iter().filter(|each| !["decimal", "uint64"].contains(&each.kind.as_str())).collect();
    client.batch_execute("DROP TABLE IF EXISTS rust_pg").await.map_err(said)?;
    client.batch_execute(&create_table("rust_pg", &columns)).await.map_err(said)?;
    let marks: Vec<String> = (1..=columns.len() + 2).map(|i| format!("${i}")).collect();
    let insert = client.prepare(&format!("INSERT INTO rust_pg VALUES ({})", marks.join(", "))).await.map_err(said)?;
    for row in 0..4 {
        let mut values: Vec<Box<dyn ToSql + Sync + Send>> = vec![Box::new(row as i32), Box::new(second(row))];
        for each in &columns {
            values.push(match (each.kind.as_str(), each.bits) {
                ("bool", _) => Box::new(each.parsed::<bool>(row)),
                ("int", 8 | 16) => Box::new(each.parsed::<i16>(row)),
                ("int", 32) => Box::new(each.parsed::<i32>(row)),
                ("int", _) => Box::new(each.parsed::<i64>(row)),
                ("float32", _) => Box::new(each.parsed::<f32>(row)),
                ("float64", _) => Box::new(each.parsed::<f64>(row)),
                ("binary", _) => Box::new(each.bytes(row)),
                ("date", _) => Box::new(each.parsed::<chrono::NaiveDate>(row)),
                ("timestamp", _) => Box::new(each.time(row)),
                ("json", _) => Box::new(each.parsed::<serde_json::Value>(row)),
                _ => Box::new(each.text(row).map(str::to_string)),
            });
        }
        let given: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
        expect(client.execute(&insert, &given).await.map_err(said)? == 1, "rows")?;
    }
    let found = client.query(&format!("SELECT {} FROM rust_pg ORDER BY id", names(&columns)), &[]).await.map_err(said)?;
    expect(found.len() == 4, found.len())?;
    for (row, got) in found.iter().enumerate() {
        for (i, each) in columns.iter().enumerate() {
            match (each.kind.as_str(), each.bits) {
                ("bool", _) => each.same(got.get(i), each.parsed::<bool>(row))?,
                ("int", 8 | 16) => each.same(got.get(i), each.parsed::<i16>(row))?,
                ("int", 32) => each.same(got.get(i), each.parsed::<i32>(row))?,
                ("int", _) => each.same(got.get(i), each.parsed::<i64>(row))?,
                ("float32", _) => each.same(got.get(i), each.parsed::<f32>(row))?,
                ("float64", _) => {
                    let bits = |value: Option<f64>| value.map(|value| if value.is_nan() { 0 } else { value.to_bits() });
                    each.same(bits(got.get(i)), bits(each.parsed::<f64>(row)))?
                }
                ("binary", _) => each.same(got.get(i), each.bytes(row))?,
                ("date", _) => each.same(got.get(i), each.parsed::<chrono::NaiveDate>(row))?,
                ("timestamp", _) => each.same(got.get(i), each.time(row))?,
                ("json", _) => each.same(got.get(i), each.parsed::<serde_json::Value>(row))?,
                _ => each.same(got.get(i), each.text(row).map(str::to_string))?,
            }
        }
    }
    Ok(())
}
