//! Writes the events of a range to a Parquet file.

use crate::columns::{self, Kind, SEQ, path};
use crate::error::{ArchiveError, Result};
use audit_domain::{EventField, FieldTexts, StoredEvent, Timestamp};
use parquet::basic::{Compression, Encoding, GzipLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType, Int64Type,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use std::fs::File;
use std::sync::Arc;

/// The most rows of a row group.
pub const ROW_GROUP_ROWS_MAX: usize = 65_536;
/// A row group ends with the event that brings its texts to this size: they are in memory until then.
const ROW_GROUP_BYTES_MAX: usize = 128 * 1024 * 1024;
/// gzip: a higher level takes twice the time and saves 2 %.
const GZIP_LEVEL: u32 = 6;

/// Writes events, in the order of the log, to a file.
pub struct EventWriter {
    file: SerializedFileWriter<File>,
    columns: Vec<Column>,
    rows: usize,
    bytes: usize,
    events: u64,
}

/// The values of a column in the row group that is being collected.
struct Column {
    name: String,
    values: Values,
    /// 1 where the event has a value, otherwise 0; of a required column nothing.
    levels: Option<Vec<i16>>,
}

enum Values {
    Integers(Vec<i64>),
    Bytes(Vec<ByteArray>),
    Hashes(Vec<FixedLenByteArray>),
    Flags(Vec<bool>),
}

/// A value of a column.
enum Cell {
    Integer(i64),
    Bytes(Vec<u8>),
    Hash(Vec<u8>),
    Flag(bool),
}

impl EventWriter {
    /// Writes to an empty file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new(file: File) -> Result<Self> {
        let file = SerializedFileWriter::new(file, columns::schema()?, Arc::new(properties()?))?;
        Ok(Self {
            file,
            columns: new_columns(),
            rows: 0,
            bytes: 0,
            events: 0,
        })
    }

    /// Appends an event.
    ///
    /// # Errors
    /// When the stored text is not one of an event, or the file cannot be written.
    pub fn append(&mut self, seq: u64, event: &StoredEvent) -> Result<()> {
        let damaged = || ArchiveError::Event {
            seq,
            problem: "has not the text of an event",
        };
        let fields = FieldTexts::find(&event.canonical).ok_or_else(damaged)?;
        let position = i64::try_from(seq).map_err(|_| damaged())?;
        self.columns[0].push(Some(Cell::Integer(position)));
        for (column, field) in self.columns[1..].iter_mut().zip(EventField::ALL) {
            column.push(cell(*field, event, fields.get(*field)).ok_or_else(damaged)?);
        }
        self.rows += 1;
        self.events += 1;
        self.bytes += event.canonical.len();
        if self.rows == ROW_GROUP_ROWS_MAX || self.bytes >= ROW_GROUP_BYTES_MAX {
            self.write_row_group()?;
        }
        Ok(())
    }

    /// Completes the file. Returns it, unsynchronized, and the number of events.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(mut self) -> Result<(File, u64)> {
        if self.rows > 0 {
            self.write_row_group()?;
        }
        Ok((self.file.into_inner()?, self.events))
    }

    fn write_row_group(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for column in std::mem::replace(&mut self.columns, new_columns()) {
            let writer = group.next_column()?;
            column.write(writer.ok_or(ArchiveError::Form("too few columns"))?)?;
        }
        group.close()?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }
}

/// The value of a field of an event, `Some(None)` where the event does not have it; `None` where it is not one of an event.
fn cell(field: EventField, event: &StoredEvent, text: &str) -> Option<Option<Cell>> {
    let cell = match columns::kind(field) {
        Kind::Hash => Cell::Hash(event.content_hash.as_bytes().to_vec()),
        Kind::Salt => Cell::Bytes(event.content_salt.to_bytes()),
        Kind::Flag => Cell::Flag(event.redacted),
        _ if text.is_empty() => return Some(None),
        Kind::Json => Cell::Bytes(text.as_bytes().to_vec()),
        Kind::Text => Cell::Bytes(serde_json::from_str::<String>(text).ok()?.into_bytes()),
        Kind::Time => {
            let time = text.strip_prefix('"')?.strip_suffix('"')?;
            Cell::Integer(Timestamp::parse_rfc3339(time).ok()?.as_micros())
        }
    };
    Some(Some(cell))
}

fn properties() -> Result<WriterProperties> {
    let mut properties = WriterProperties::builder()
        .set_created_by("audit-archive".to_owned())
        .set_compression(Compression::GZIP(GzipLevel::try_new(GZIP_LEVEL)?))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_column_encoding(path(SEQ), Encoding::DELTA_BINARY_PACKED)
        .set_column_statistics_enabled(path(SEQ), EnabledStatistics::Chunk);
    for field in EventField::ALL {
        let column = path(columns::name(*field));
        if columns::kind(*field) == Kind::Time {
            properties = properties.set_column_encoding(column.clone(), Encoding::DELTA_BINARY_PACKED);
        }
        if columns::has_statistics(*field) {
            properties = properties.set_column_statistics_enabled(column.clone(), EnabledStatistics::Chunk);
        }
        properties = properties.set_column_dictionary_enabled(column, columns::has_dictionary(*field));
    }
    Ok(properties.build())
}

fn new_columns() -> Vec<Column> {
    let seq = Column {
        name: SEQ.to_owned(),
        values: Values::Integers(Vec::new()),
        levels: None,
    };
    let of_field = |field: &EventField| Column {
        name: columns::name(*field),
        values: match columns::kind(*field) {
            Kind::Time => Values::Integers(Vec::new()),
            Kind::Text | Kind::Json | Kind::Salt => Values::Bytes(Vec::new()),
            Kind::Hash => Values::Hashes(Vec::new()),
            Kind::Flag => Values::Flags(Vec::new()),
        },
        levels: (!columns::is_required(*field)).then(Vec::new),
    };
    std::iter::once(seq)
        .chain(EventField::ALL.iter().map(of_field))
        .collect()
}

impl Column {
    fn push(&mut self, cell: Option<Cell>) {
        if let Some(levels) = &mut self.levels {
            levels.push(i16::from(cell.is_some()));
        }
        match (&mut self.values, cell) {
            (Values::Integers(values), Some(Cell::Integer(value))) => values.push(value),
            (Values::Bytes(values), Some(Cell::Bytes(value))) => values.push(value.into()),
            (Values::Hashes(values), Some(Cell::Hash(value))) => values.push(value.into()),
            (Values::Flags(values), Some(Cell::Flag(value))) => values.push(value),
            (_, None) => {}
            (_, Some(_)) => unreachable!("the column {} has values of its own kind", self.name),
        }
    }

    fn write(&self, mut writer: SerializedColumnWriter<'_>) -> Result<()> {
        match &self.values {
            Values::Integers(values) => self.write_values::<Int64Type>(values, &mut writer)?,
            Values::Bytes(values) => self.write_values::<ByteArrayType>(values, &mut writer)?,
            Values::Hashes(values) => self.write_values::<FixedLenByteArrayType>(values, &mut writer)?,
            Values::Flags(values) => self.write_values::<BoolType>(values, &mut writer)?,
        }
        Ok(writer.close()?)
    }

    fn write_values<T: DataType>(
        &self,
        values: &[T::T],
        writer: &mut SerializedColumnWriter<'_>,
    ) -> Result<()> {
        let levels = self.levels.as_deref();
        writer.typed::<T>().write_batch(values, levels, None)?;
        Ok(())
    }
}
