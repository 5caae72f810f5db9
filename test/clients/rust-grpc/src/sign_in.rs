//! Names and passwords.

use greptimedb_ingester::api::v1::Basic;
use greptimedb_ingester::api::v1::auth_header::AuthScheme;
use greptimedb_ingester::client::Client;
use greptimedb_ingester::database::Database;
use greptimedb_ingester::{BulkInserter, ColumnDataType, Row, TableSchema, Value};

use crate::{Outcome, address, check, env, expect, said};

fn basic(password: &str) -> AuthScheme {
    AuthScheme::Basic(Basic {
        username: env("VARVE_USER"),
        password: password.to_string(),
    })
}

fn guarded(password: Option<&str>) -> Database {
    let mut database = Database::new_with_dbname(
        "public",
        Client::with_urls(vec![address("VARVE_GRPC_SECURE")]),
    );
    if let Some(password) = password {
        database.set_auth(basic(password));
    }
    database
}

async fn refused(password: Option<&str>) -> Outcome {
    match guarded(password)
        .insert(crate::rows::points("rust_guarded", 0, 1))
        .await
    {
        Ok(taken) => Err(format!("{taken} rows taken")),
        Err(error) => expect(said(&error).contains("Unauthenticated"), error),
    }
}

async fn bulk(password: &str) -> Result<usize, String> {
    let mut bulk = BulkInserter::new(
        Client::with_urls(vec![address("VARVE_GRPC_SECURE")]),
        "public",
    );
    bulk.set_auth(basic(password));
    let named = TableSchema::builder()
        .name("rust_guarded")
        .build()
        .map_err(said)?;
    let schema = named
        .add_timestamp("ts", ColumnDataType::TimestampMillisecond)
        .add_tag("host", ColumnDataType::String)
        .add_field("x", ColumnDataType::Float64);
    let mut writer = bulk
        .create_bulk_stream_writer(&schema, None)
        .await
        .map_err(said)?;
    let mut rows = writer.alloc_rows_buffer(1).map_err(said)?;
    rows.add_row(Row::new().add_values(vec![
        Value::TimestampMillisecond(5),
        Value::String("h".to_string()),
        Value::Float64(1.0),
    ]))
    .map_err(said)?;
    Ok(writer.write_rows(rows).await.map_err(said)?.affected_rows())
}

pub async fn run() {
    check("rust sign-in: the right password", async {
        let taken = guarded(Some(&env("VARVE_PASSWORD")))
            .insert(crate::rows::points("rust_guarded", 0, 1))
            .await
            .map_err(said)?;
        expect(taken == 1, taken)
    })
    .await;
    check("rust sign-in: a wrong password", refused(Some("wrong"))).await;
    check("rust sign-in: none", refused(None)).await;
    check("rust sign-in: bulk, the right password", async {
        expect(bulk(&env("VARVE_PASSWORD")).await? == 1, "a row")
    })
    .await;
    check("rust sign-in: bulk, a wrong password", async {
        match bulk("wrong").await {
            Ok(taken) => Err(format!("{taken} rows taken")),
            Err(error) => expect(error.contains("Unauthenticated"), error),
        }
    })
    .await;
}
