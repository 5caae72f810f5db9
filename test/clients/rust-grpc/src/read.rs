//! What a statement answers, by Arrow Flight's DoGet: the ticket is a request with the statement.

use arrow_array::RecordBatch;
use arrow_flight::Ticket;
use arrow_flight::decode::FlightRecordBatchStream;
use arrow_flight::error::FlightError;
use arrow_flight::flight_service_client::FlightServiceClient;
use futures::{TryStreamExt, future};
use greptime_proto::v1::greptime_request::Request;
use greptime_proto::v1::query_request::Query;
use greptime_proto::v1::{GreptimeRequest, QueryRequest, RequestHeader};
use prost::Message;
use tonic::transport::Channel;

use crate::{Outcome, address, expect, said};

fn ticket(sql: &str) -> Ticket {
    let request = GreptimeRequest {
        header: Some(RequestHeader {
            dbname: "public".to_string(),
            ..Default::default()
        }),
        request: Some(Request::Query(QueryRequest {
            query: Some(Query::Sql(sql.to_string())),
        })),
    };
    Ticket {
        ticket: request.encode_to_vec().into(),
    }
}

/// All rows of a statement.
pub async fn batches(sql: &str) -> Result<Vec<RecordBatch>, String> {
    let url = format!("http://{}", address("VARVE_GRPC"));
    let channel = Channel::from_shared(url)
        .map_err(said)?
        .connect()
        .await
        .map_err(said)?;
    let mut client = FlightServiceClient::new(channel);
    let answer = client.do_get(ticket(sql)).await.map_err(said)?.into_inner();
    // What says something else than rows, such as what a statement took, has a header of no type.
    let messages = answer
        .map_err(|status| FlightError::Tonic(Box::new(status)))
        .try_filter(|data| {
            future::ready(!data.data_body.is_empty() || data.app_metadata.is_empty())
        });
    FlightRecordBatchStream::new_from_flight_data(messages)
        .try_collect()
        .await
        .map_err(said)
}

/// Rows as text, a line a row.
pub async fn shown(sql: &str) -> Result<Vec<String>, String> {
    let mut lines = Vec::new();
    for batch in batches(sql).await? {
        for row in 0..batch.num_rows() {
            let cells = batch
                .columns()
                .iter()
                .map(|column| cell(column, row))
                .collect::<Result<Vec<_>, _>>()?;
            lines.push(cells.join(","));
        }
    }
    Ok(lines)
}

fn cell(column: &arrow_array::ArrayRef, row: usize) -> Result<String, String> {
    use greptimedb_ingester::arrow_schema::DataType;
    if column.is_null(row) {
        return Ok("NULL".to_string());
    }
    if let DataType::Binary | DataType::LargeBinary | DataType::BinaryView = column.data_type() {
        let bytes =
            arrow_array::cast::AsArray::as_binary_opt::<i32>(column).ok_or("a binary column")?;
        return Ok(bytes
            .value(row)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect());
    }
    arrow_cast::display::array_value_to_string(column, row).map_err(said)
}

/// Fails unless a statement answers these lines.
pub async fn answers(sql: &str, wanted: &[&str]) -> Outcome {
    let lines = shown(sql).await?;
    expect(lines == wanted, (sql, lines))
}
