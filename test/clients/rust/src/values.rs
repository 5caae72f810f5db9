//! The table of values that every client writes and reads.

use crate::Outcome;
use serde_json::Value;

#[derive(Clone)]
pub struct Column {
    pub name: String,
    pub kind: String,
    pub bits: u64,
    sql: String,
    values: Vec<String>,
}

pub struct Failure {
    pub sql: String,
    pub state: String,
    pub number: u64,
}

pub struct Shared {
    columns: Vec<(Option<String>, Column)>,
    pub errors: Vec<Failure>,
    pub slow: String,
    pub stream: String,
    pub sum: i64,
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_string()
}

impl Shared {
    pub fn load(path: &str) -> Shared {
        let all: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("values")).expect("JSON");
        let list = |value: &Value| value.as_array().expect("a list").clone();
        let column = |each: &Value| Column {
            name: text(&each["name"]),
            kind: text(&each["kind"]),
            bits: each["bits"].as_u64().unwrap_or(0),
            sql: text(&each["type"]),
            values: list(&each["values"]).iter().map(text).collect(),
        };
        let failure = |each: &Value| Failure {
            sql: text(&each["sql"]),
            state: text(&each["sqlstate"]),
            number: each["number"].as_u64().expect("a number"),
        };
        Shared {
            columns: list(&all["columns"]).iter().map(|each| (each["only"].as_str().map(str::to_string), column(each))).collect(),
            errors: list(&all["errors"]).iter().map(failure).collect(),
            slow: text(&all["slow"]),
            stream: text(&all["stream"]["sql"]),
            sum: text(&all["stream"]["sum"]).parse().expect("a sum"),
        }
    }

    pub fn columns(&self, dialect: &str) -> Vec<Column> {
        let is_there = |only: &Option<String>| only.as_ref().is_none_or(|only| only == dialect);
        self.columns.iter().filter(|(only, _)| is_there(only)).map(|(_, column)| column.clone()).collect()
    }
}

impl Column {
    /// Of rows 0 to 2; row 3 is of NULLs.
    pub fn text(&self, row: usize) -> Option<&str> {
        self.values.get(row).map(String::as_str)
    }

    pub fn bytes(&self, row: usize) -> Option<Vec<u8>> {
        let text = self.text(row)?;
        Some((0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex")).collect())
    }

    pub fn parsed<T: std::str::FromStr>(&self, row: usize) -> Option<T>
    where
        T::Err: std::fmt::Debug,
    {
        self.text(row).map(|text| text.parse().expect("a value"))
    }

    pub fn time(&self, row: usize) -> Option<chrono::NaiveDateTime> {
        self.text(row).map(|text| chrono::NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").expect("a time"))
    }

    /// Fails unless a driver's value is the one of the row.
    pub fn same<T: PartialEq + std::fmt::Debug>(&self, got: Option<T>, want: Option<T>) -> Outcome {
        if got == want { Ok(()) } else { Err(format!("column {} ({}): {got:?}, not {want:?}", self.name, self.sql)) }
    }
}

pub fn names(columns: &[Column]) -> String {
    columns.iter().map(|each| each.name.clone()).collect::<Vec<_>>().join(", ")
}

pub fn create_table(name: &str, columns: &[Column]) -> String {
    let fields: Vec<String> = columns.iter().map(|each| format!("{} {}", each.name, each.sql)).collect();
    format!("CREATE TABLE {name} (id INT PRIMARY KEY, ts TIMESTAMP TIME INDEX, {})", fields.join(", "))
}

pub fn second(row: usize) -> chrono::NaiveDateTime {
    chrono::DateTime::from_timestamp(1_704_067_200 + row as i64, 0).expect("a time").naive_utc()
}
