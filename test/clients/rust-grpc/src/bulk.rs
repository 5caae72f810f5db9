//! Bulk writes: Arrow Flight's DoPut.

use greptimedb_ingester::{
    BulkInserter, BulkStreamWriter, BulkWriteOptions, ColumnDataType, CompressionType, Result, Row,
    TableSchema, Value,
};

use crate::read::answers;
use crate::{Outcome, check, client, database, expect, said};

fn schema(table: &str) -> TableSchema {
    let named = TableSchema::builder().name(table).build().expect("a name");
    named
        .add_timestamp("ts", ColumnDataType::TimestampMillisecond)
        .add_tag("host", ColumnDataType::String)
        .add_field("x", ColumnDataType::Float64)
}

async fn written(writer: &mut BulkStreamWriter, from: i64, count: i64) -> Result<usize> {
    let mut rows = writer.alloc_rows_buffer(count as usize)?;
    for at in from..from + count {
        let values = vec![
            Value::TimestampMillisecond(at * 1000),
            Value::String(format!("h{}", at % 7)),
            Value::Float64(at as f64 / 2.0),
        ];
        rows.add_row(Row::new().add_values(values))?;
    }
    Ok(writer.write_rows(rows).await?.affected_rows())
}

async fn compressed(name: &str, compression: CompressionType) -> Outcome {
    let table = format!("rust_bulk_{name}");
    database()
        .insert(crate::rows::points(&table, 0, 1))
        .await
        .map_err(said)?;
    let options = BulkWriteOptions::default().with_compression(compression);
    let bulk = BulkInserter::new(client(), "public");
    let mut writer = bulk
        .create_bulk_stream_writer(&schema(&table), Some(options))
        .await
        .map_err(said)?;
    for batch in 0..10 {
        let taken = written(&mut writer, batch * 1000, 1000)
            .await
            .map_err(said)?;
        expect(taken == 1000, taken)?;
    }
    writer.finish().await.map_err(said)?;
    answers(
        &format!("SELECT count(*), sum(x) FROM {table}"),
        &["10000,24997500.0"],
    )
    .await
}

async fn side_by_side() -> Outcome {
    database()
        .insert(crate::rows::points("rust_bulk_side", 0, 1))
        .await
        .map_err(said)?;
    let options = BulkWriteOptions::default().with_parallelism(8);
    let bulk = BulkInserter::new(client(), "public");
    let mut writer = bulk
        .create_bulk_stream_writer(&schema("rust_bulk_side"), Some(options))
        .await
        .map_err(said)?;
    for batch in 0..40i64 {
        let mut rows = writer.alloc_rows_buffer(100).map_err(said)?;
        for at in batch * 100..batch * 100 + 100 {
            let values = vec![
                Value::TimestampMillisecond(at * 1000),
                Value::String("h".to_string()),
                Value::Float64(1.0),
            ];
            rows.add_row(Row::new().add_values(values)).map_err(said)?;
        }
        writer.write_rows_async(rows).await.map_err(said)?;
    }
    let answers_of_all = writer.finish_with_responses().await.map_err(said)?;
    let taken: usize = answers_of_all
        .iter()
        .map(|answer| answer.affected_rows())
        .sum();
    expect(taken == 4000, taken)?;
    answers(
        "SELECT count(*) FROM rust_bulk_side WHERE host = 'h'",
        &["4000"],
    )
    .await
}

async fn unknown_table() -> Outcome {
    let bulk = BulkInserter::new(client(), "public");
    let mut writer = match bulk
        .create_bulk_stream_writer(&schema("rust_bulk_nowhere"), None)
        .await
    {
        Ok(writer) => writer,
        Err(error) => return expect(said(&error).contains("not found"), error),
    };
    match written(&mut writer, 0, 1).await {
        Ok(taken) => Err(format!("{taken} rows taken")),
        Err(error) => expect(said(&error).contains("not found"), error),
    }
}

async fn new_table() -> Outcome {
    let bulk = BulkInserter::new(client(), "public");
    let mut writer = bulk
        .create_bulk_stream_writer_with_auto_create_table(&schema("rust_bulk_new"), None, true)
        .await
        .map_err(said)?;
    let taken = written(&mut writer, 0, 10).await.map_err(said)?;
    expect(taken == 10, taken)?;
    writer.finish().await.map_err(said)?;
    answers(
        "SELECT count(*), count(DISTINCT host) FROM rust_bulk_new",
        &["10,7"],
    )
    .await
}

pub async fn run() {
    check(
        "rust bulk: no compression",
        compressed("none", CompressionType::None),
    )
    .await;
    check("rust bulk: lz4", compressed("lz4", CompressionType::Lz4)).await;
    check("rust bulk: zstd", compressed("zstd", CompressionType::Zstd)).await;
    check("rust bulk: side by side", side_by_side()).await;
    check("rust bulk: an unknown table", unknown_table()).await;
    check("rust bulk: a new table", new_table()).await;
}
