//! Rows and columns, one request each and in a stream.

use futures::stream;
use greptime_proto::v1::greptime_database_client::GreptimeDatabaseClient;
use greptime_proto::v1::greptime_request::Request;
use greptime_proto::v1::greptime_response::Response;
use greptimedb_ingester::api::v1::*;
use greptimedb_ingester::helpers::schema::*;
use greptimedb_ingester::helpers::values::*;

use crate::read::answers;
use crate::{Outcome, address, check, client, database, expect, said};

pub fn request(table: &str, schema: Vec<ColumnSchema>, rows: Vec<Vec<Value>>) -> RowInsertRequests {
    let rows = rows.into_iter().map(|values| Row { values }).collect();
    RowInsertRequests {
        inserts: vec![RowInsertRequest {
            table_name: table.to_string(),
            rows: Some(Rows { schema, rows }),
        }],
    }
}

pub fn points(table: &str, from: i64, count: i64) -> RowInsertRequests {
    let schema = vec![
        tag("host", ColumnDataType::String),
        timestamp("ts", ColumnDataType::TimestampMillisecond),
        field("x", ColumnDataType::Float64),
    ];
    let row = |at: i64| {
        vec![
            string_value(format!("h{}", at % 7)),
            timestamp_millisecond_value(at * 1000),
            f64_value(at as f64 / 2.0),
        ]
    };
    request(table, schema, (from..from + count).map(row).collect())
}

async fn every_type() -> Outcome {
    let schema = vec![
        tag("t", ColumnDataType::String),
        timestamp("ts", ColumnDataType::TimestampNanosecond),
        field("i8", ColumnDataType::Int8),
        field("i16", ColumnDataType::Int16),
        field("i32", ColumnDataType::Int32),
        field("i64", ColumnDataType::Int64),
        field("u8", ColumnDataType::Uint8),
        field("u16", ColumnDataType::Uint16),
        field("u32", ColumnDataType::Uint32),
        field("u64", ColumnDataType::Uint64),
        field("f32", ColumnDataType::Float32),
        field("f64", ColumnDataType::Float64),
        field("b", ColumnDataType::Boolean),
        field("s", ColumnDataType::String),
        field("bin", ColumnDataType::Binary),
        field("d", ColumnDataType::Date),
        field("ms", ColumnDataType::TimestampMillisecond),
    ];
    let small = vec![
        string_value("least".to_string()),
        timestamp_nanosecond_value(1),
        i8_value(i8::MIN),
        i16_value(i16::MIN),
        i32_value(i32::MIN),
        i64_value(i64::MIN),
        u8_value(0),
        u16_value(0),
        u32_value(0),
        u64_value(0),
        f32_value(-1.5),
        f64_value(-0.1),
        bool_value(false),
        string_value(String::new()),
        binary_value(vec![]),
        date_value(-1),
        timestamp_millisecond_value(-1),
    ];
    let large = vec![
        string_value("most".to_string()),
        timestamp_nanosecond_value(1_700_000_000_123_456_789),
        i8_value(i8::MAX),
        i16_value(i16::MAX),
        i32_value(i32::MAX),
        i64_value(i64::MAX),
        u8_value(u8::MAX),
        u16_value(u16::MAX),
        u32_value(u32::MAX),
        u64_value(u64::MAX),
        f32_value(1.5),
        f64_value(1e300),
        bool_value(true),
        string_value("čä 漢".to_string()),
        binary_value(vec![0, 255]),
        date_value(19_358),
        timestamp_millisecond_value(1_700_000_000_123),
    ];
    let mut nothing = vec![
        string_value("none".to_string()),
        timestamp_nanosecond_value(2),
    ];
    nothing.resize_with(schema.len(), none_value);
    let taken = database()
        .insert(request("rust_types", schema, vec![small, large, nothing]))
        .await
        .map_err(said)?;
    expect(taken == 3, taken)?;
    let numbers = "SELECT i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, b, s, bin FROM rust_types ORDER BY t";
    let least = "-128,-32768,-2147483648,-9223372036854775808,0,0,0,0,-1.5,-0.1,false,,";
    let most = "127,32767,2147483647,9223372036854775807,255,65535,4294967295,18446744073709551615,1.5,1e300,true,čä 漢,00ff";
    answers(numbers, &[least, most, &["NULL"; 13].join(",")]).await?;
    let times = "SELECT d, ms, ts FROM rust_types ORDER BY t";
    let least = "1969-12-31,1969-12-31T23:59:59.999,1970-01-01T00:00:00.000000001";
    let most = "2023-01-01,2023-11-14T22:13:20.123,2023-11-14T22:13:20.123456789";
    answers(
        times,
        &[least, most, "NULL,NULL,1970-01-01T00:00:00.000000002"],
    )
    .await
}

async fn new_columns() -> Outcome {
    database()
        .insert(points("rust_grows", 0, 3))
        .await
        .map_err(said)?;
    let schema = vec![
        tag("host", ColumnDataType::String),
        tag("zone", ColumnDataType::String),
        timestamp("ts", ColumnDataType::TimestampMillisecond),
        field("y", ColumnDataType::Int64),
    ];
    let row = vec![
        string_value("h9".to_string()),
        string_value("eu".to_string()),
        timestamp_millisecond_value(9000),
        i64_value(9),
    ];
    database()
        .insert(request("rust_grows", schema, vec![row]))
        .await
        .map_err(said)?;
    answers(
        "SELECT host, zone, x, y FROM rust_grows WHERE ts >= 2000 ORDER BY ts",
        &["h2,NULL,1.0,NULL", "h9,eu,NULL,9"],
    )
    .await
}

async fn hints() -> Outcome {
    database()
        .insert_with_hints(
            points("rust_hints", 0, 1),
            &[("ttl", "30d"), ("append_mode", "true")],
        )
        .await
        .map_err(said)?;
    let lines = crate::read::shown("SHOW CREATE TABLE rust_hints")
        .await?
        .join("\n");
    expect(
        lines.contains("ttl = '30days'") && lines.contains("append_mode = 'true'"),
        lines,
    )
}

async fn deletes() -> Outcome {
    database()
        .insert(points("rust_deletes", 0, 7))
        .await
        .map_err(said)?;
    let texts = Column {
        column_name: "host".to_string(),
        semantic_type: SemanticType::Tag as i32,
        values: Some(column::Values {
            string_values: vec!["h1".to_string(), "h2".to_string()],
            ..Default::default()
        }),
        datatype: ColumnDataType::String as i32,
        ..Default::default()
    };
    let times = Column {
        column_name: "ts".to_string(),
        semantic_type: SemanticType::Timestamp as i32,
        values: Some(column::Values {
            timestamp_millisecond_values: vec![1000, 2000],
            ..Default::default()
        }),
        datatype: ColumnDataType::TimestampMillisecond as i32,
        ..Default::default()
    };
    let keys = DeleteRequest {
        table_name: "rust_deletes".to_string(),
        key_columns: vec![texts, times],
        row_count: 2,
    };
    let taken = database()
        .delete(DeleteRequests {
            deletes: vec![keys],
        })
        .await
        .map_err(said)?;
    expect(taken == 2, taken)?;
    answers("SELECT count(*) FROM rust_deletes", &["5"]).await
}

async fn wrong_type() -> Outcome {
    database()
        .insert(points("rust_wrong", 0, 1))
        .await
        .map_err(said)?;
    let schema = vec![
        tag("host", ColumnDataType::String),
        timestamp("ts", ColumnDataType::TimestampMillisecond),
        field("x", ColumnDataType::String),
    ];
    let row = vec![
        string_value("h".to_string()),
        timestamp_millisecond_value(1),
        string_value("no number".to_string()),
    ];
    match database()
        .insert(request("rust_wrong", schema, vec![row]))
        .await
    {
        Ok(taken) => Err(format!("{taken} rows taken")),
        Err(error) => expect(
            said(&error).contains("InvalidArgument")
                && said(&error).contains("\"x-greptime-err-code\": \"1004\""),
            error,
        ),
    }
}

async fn streamed() -> Outcome {
    let url = format!("http://{}", address("VARVE_GRPC"));
    let mut database = GreptimeDatabaseClient::connect(url).await.map_err(said)?;
    let header = RequestHeader {
        dbname: "public".to_string(),
        ..Default::default()
    };
    let one = move |at: i64| GreptimeRequest {
        header: Some(header.clone()),
        request: Some(Request::RowInserts(points("rust_stream", at * 100, 100))),
    };
    let answer = database
        .handle_requests(stream::iter((0..50).map(one)))
        .await
        .map_err(said)?
        .into_inner();
    expect(
        matches!(
            answer.response,
            Some(Response::AffectedRows(AffectedRows { value: 5000 }))
        ),
        answer,
    )?;
    answers(
        "SELECT count(*), sum(x) FROM rust_stream",
        &["5000,6248750.0"],
    )
    .await
}

pub async fn run() {
    check("rust ingester: health", async {
        client().health_check().await.map_err(said)
    })
    .await;
    check("rust ingester: every type, both ways", every_type()).await;
    check("rust ingester: new columns", new_columns()).await;
    check("rust ingester: hints", hints()).await;
    check("rust ingester: deletes", deletes()).await;
    check("rust ingester: a wrong type", wrong_type()).await;
    check("rust ingester: a stream", streamed()).await;
}
