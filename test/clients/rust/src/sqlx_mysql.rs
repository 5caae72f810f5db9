//! sqlx over mysql: prepared and binary, plain text, pool, TLS, streams.

use crate::values::{Column, Shared, create_table, names, second};
use crate::{Outcome, check, env, expect, said};
use futures_util::{TryStreamExt, future};
use sqlx::types::BigDecimal;
use sqlx::mysql::{MySqlConnectOptions as Options, MySqlPool, MySqlPoolOptions, MySqlRow, MySqlSslMode as SslMode};
use sqlx::{ConnectOptions, Connection, Row};
use std::time::Duration;

fn open() -> Options {
    let port = env("VARVE_MYSQL").parse().expect("a port");
    Options::new().host("127.0.0.1").port(port).username("someone").database("public").ssl_mode(SslMode::Disabled)
}

fn code(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(told) => told.downcast_ref::<sqlx::mysql::MySqlDatabaseError>().number().to_string(),
        other => said(other),
    }
}

pub async fn run(shared: &Shared) {
    check("sqlx mysql: right password, in clear and by TLS; a wrong one; an unknown database", async {
        let port = env("VARVE_MYSQL_SECURE").parse().map_err(said)?;
        let secure = Options::new().host("localhost").port(port).username(&env("VARVE_USER")).database("public").ssl_ca(&env("VARVE_CA"));
        for mode in [SslMode::Disabled, SslMode::Required, SslMode::VerifyIdentity] {
            let mut client = secure.clone().ssl_mode(mode).password(&env("VARVE_PASSWORD")).connect().await.map_err(said)?;
            expect(sqlx::query_scalar::<_, String>("SELECT 'ä'").fetch_one(&mut client).await.map_err(said)? == "ä", "ä")?;
        }
        let wrong = secure.ssl_mode(SslMode::Disabled).password("wrong").connect().await.err().ok_or("no error")?;
        expect(code(&wrong) == "1698", &wrong)?;
        let unknown = open().database("nowhere").connect().await.err().ok_or("no error")?;
        expect(code(&unknown) == "1102", &unknown)
    })
    .await;
    let pool = MySqlPoolOptions::new().max_connections(8).connect_with(open()).await.expect("a pool");
    check("sqlx mysql: every type both ways, binary", types(shared, &pool)).await;
    check("sqlx mysql: errors carry their codes, and the connection lives on", async {
        let mut client = open().connect().await.map_err(said)?;
        for each in &shared.errors {
            let error = sqlx::query(&each.sql).execute(&mut client).await.err().ok_or("no error")?;
            expect(code(&error) == each.number.to_string(), (&each.sql, error))?;
        }
        client.ping().await.map_err(said)
    })
    .await;
    check("sqlx mysql: streams, prepared and as text", async {
        for is_prepared in [true, false] {
            let mut rows = if is_prepared { sqlx::query(&shared.stream).fetch(&pool) } else { sqlx::raw_sql(&shared.stream).fetch(&pool) };
            let mut sum = 0;
            while let Some(row) = rows.try_next().await.map_err(said)? {
                sum += row.try_get::<i64, _>(0).map_err(said)?;
            }
            expect(sum == shared.sum, sum)?;
        }
        Ok(())
    })
    .await;
    check("sqlx mysql: a pool, queries at once", async {
        let ask = async |i: i64| sqlx::query_scalar::<_, i64>("SELECT CAST(? AS BIGINT) * 2").bind(i).fetch_one(&pool).await;
        let answers = future::try_join_all((0..100).map(ask)).await.map_err(said)?;
        expect(answers.iter().copied().eq((0..100).map(|i| i * 2)), "answers")
    })
    .await;
    check("sqlx mysql: transactions pass", async {
        for is_kept in [true, false] {
            let mut inner = pool.begin().await.map_err(said)?;
            sqlx::query("SELECT 1").execute(&mut *inner).await.map_err(said)?;
            if is_kept { inner.commit().await } else { inner.rollback().await }.map_err(said)?;
        }
        Ok(())
    })
    .await;
    check("sqlx mysql: a query that is dropped leaves a usable pool", async {
        let slow = tokio::time::timeout(Duration::from_millis(300), sqlx::query(&shared.slow).execute(&pool)).await;
        expect(slow.is_err(), "it ended")?;
        sqlx::query("SELECT 1").execute(&pool).await.map(|_| ()).map_err(said)
    })
    .await;
    pool.close().await;
}

async fn types(shared: &Shared, pool: &MySqlPool) -> Outcome {
    let columns = shared.columns("mysql");
    let table = "rust_sqlx_mysql";
    sqlx::raw_sql(&format!("DROP TABLE IF EXISTS {table}")).execute(pool).await.map_err(said)?;
    sqlx::raw_sql(&create_table(table, &columns)).execute(pool).await.map_err(said)?;
    let marks: Vec<String> = (1..=columns.len() + 2).map(|_| "?".to_string()).collect();
    let insert = format!("INSERT INTO {table} VALUES ({})", marks.join(", "));
    for row in 0..4 {
        let mut query = sqlx::query(&insert).bind(row as i32).bind(second(row));
        for each in &columns {
            query = match (each.kind.as_str(), each.bits) {
                ("bool", _) => query.bind(each.parsed::<bool>(row)),
                ("int", 8 | 16) => query.bind(each.parsed::<i16>(row)),
                ("int", 32) => query.bind(each.parsed::<i32>(row)),
                ("int", _) => query.bind(each.parsed::<i64>(row)),
                ("uint64", _) => query.bind(each.parsed::<u64>(row)),
                ("decimal", _) => query.bind(each.parsed::<BigDecimal>(row)),
                ("float32", _) => query.bind(each.parsed::<f32>(row)),
                ("float64", _) => query.bind(each.parsed::<f64>(row)),
                ("binary", _) => query.bind(each.bytes(row)),
                ("date", _) => query.bind(each.parsed::<chrono::NaiveDate>(row)),
                ("timestamp", _) => query.bind(each.time(row)),
                ("json", _) => query.bind(each.parsed::<serde_json::Value>(row)),
                _ => query.bind(each.text(row).map(str::to_string)),
            };
        }
        expect(query.execute(pool).await.map_err(said)?.rows_affected() == 1, "rows")?;
    }
    let text = format!("SELECT {} FROM {table} ORDER BY id", names(&columns));
    let found = sqlx::query(&text).fetch_all(pool).await.map_err(said)?;
    expect(found.len() == 4, found.len())?;
    for (row, got) in found.iter().enumerate() {
        for (i, each) in columns.iter().enumerate() {
            compare(got, i, each, row)?;
        }
    }
    Ok(())
}

fn compare(got: &MySqlRow, i: usize, each: &Column, row: usize) -> Outcome {
    match (each.kind.as_str(), each.bits) {
        ("bool", _) => each.same(got.try_get(i).map_err(said)?, each.parsed::<bool>(row)),
        ("int" | "uint64", _) if each.name.starts_with('u') => each.same(got.try_get(i).map_err(said)?, each.parsed::<u64>(row)),
        ("int", _) => each.same(got.try_get(i).map_err(said)?, each.parsed::<i64>(row)),
        ("decimal", _) => each.same(got.try_get(i).map_err(said)?, each.parsed::<BigDecimal>(row)),
        ("float32", _) => each.same(got.try_get(i).map_err(said)?, each.parsed::<f32>(row)),
        ("float64", _) => {
            let bits = |value: Option<f64>| value.map(|value| if value.is_nan() { 0 } else { value.to_bits() });
            each.same(bits(got.try_get(i).map_err(said)?), bits(each.parsed::<f64>(row)))
        }
        ("binary", _) => each.same(got.try_get(i).map_err(said)?, each.bytes(row)),
        ("date", _) => each.same(got.try_get(i).map_err(said)?, each.parsed::<chrono::NaiveDate>(row)),
        ("timestamp", _) => each.same(got.try_get::<Option<chrono::DateTime<chrono::Utc>>, _>(i).map_err(said)?.map(|at| at.naive_utc()), each.time(row)),
        ("json", _) => each.same(got.try_get(i).map_err(said)?, each.parsed::<serde_json::Value>(row)),
        _ => each.same(got.try_get(i).map_err(said)?, each.text(row).map(str::to_string)),
    }
}
