//! Reads the events of a file, and computes the content hash of each from its columns.

use crate::columns::{self, COUNT, Kind};
use crate::error::{ArchiveError, Result};
use crate::footer;
use audit_domain::{ContentHash, EventField, FieldTexts, LogName, StoredSalt, Timestamp, canonical};
use parquet::basic::ColumnOrder;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, FixedLenByteArrayType, Int64Type};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Rows that are decoded at once.
const BATCH_ROWS: usize = 1_024;

/// An event of an archive, whose content hash was computed from its columns.
#[derive(Clone, Debug)]
pub struct ArchivedEvent {
    /// Its position in the log.
    pub seq: u64,
    /// Its content hash.
    pub content_hash: ContentHash,
    /// The random bytes in the hash, or what an erasure left of them.
    pub content_salt: StoredSalt,
    /// Whether redaction changed the event, as the archive states.
    pub redacted: bool,
    /// The canonical JSON of each field, empty where the event does not have it.
    texts: Vec<String>,
}

impl ArchivedEvent {
    /// The canonical JSON of its fields.
    pub fn fields(&self) -> FieldTexts<'_> {
        FieldTexts::from_fn(|field| &self.texts[field as usize])
    }

    /// When it entered the log: the time of the claim, or else that of receipt. `None` where that is no time.
    pub fn logged_at(&self) -> Option<Timestamp> {
        let fields = self.fields();
        let claimed_at = fields.get(EventField::ClaimedAt);
        let time = match claimed_at.is_empty() {
            true => fields.get(EventField::ReceivedAt),
            false => claimed_at,
        };
        Timestamp::parse_rfc3339(time.trim_matches('"')).ok()
    }
}

/// Passes every event of a file to `take`, in the order of the file.
///
/// # Errors
/// When the file is not one of this format, has something that no content hash covers and readers use, or has an event with another
/// content hash than that of its columns.
pub fn read_events(file: File, log: &LogName, take: impl FnMut(ArchivedEvent) -> Result<()>) -> Result<()> {
    // The library panics at some files that are damaged.
    let read = catch_unwind(AssertUnwindSafe(|| read_file(file, log, take)));
    read.unwrap_or(Err(ArchiveError::Form("pages that cannot be read")))
}

fn read_file(file: File, log: &LogName, mut take: impl FnMut(ArchivedEvent) -> Result<()>) -> Result<()> {
    let of_footer = file.try_clone()?;
    let reader = SerializedFileReader::new(file)?;
    let footer = footer::read(&of_footer)?;
    let metadata = reader.metadata().file_metadata();
    if metadata.schema() != &*columns::schema()? {
        return Err(ArchiveError::Form("other columns than an archive"));
    }
    if metadata
        .key_value_metadata()
        .is_some_and(|added| !added.is_empty())
    {
        return Err(ArchiveError::Form("metadata that an archive does not have"));
    }
    check_totals(reader.metadata())?;
    check_names(&footer, reader.num_row_groups())?;
    for index in 0..reader.num_row_groups() {
        check_columns(reader.metadata().row_group(index))?;
        let group = reader.get_row_group(index)?;
        read_group(&*group, log, &mut take)?;
    }
    Ok(())
}

/// Refuses columns under other names than those of the schema.
fn check_names(footer: &[u8], row_groups: usize) -> Result<()> {
    let fields = EventField::ALL.iter().map(|field| columns::name(*field));
    let expected: Vec<String> = std::iter::once(columns::SEQ.to_owned()).chain(fields).collect();
    let expected = std::iter::repeat_n(&expected, row_groups).flatten();
    match footer::column_names(footer) {
        Some(names) if names.iter().copied().eq(expected.map(String::as_bytes)) => Ok(()),
        _ => Err(ArchiveError::Form("other names of columns than its schema")),
    }
}

/// Refuses what readers count by, and an order by which they would take deprecated statistics.
fn check_totals(metadata: &ParquetMetaData) -> Result<()> {
    let rows: i64 = metadata.row_groups().iter().map(RowGroupMetaData::num_rows).sum();
    if metadata.file_metadata().num_rows() != rows {
        return Err(ArchiveError::Form("another number of rows than it states"));
    }
    let is_usual = |order: &ColumnOrder| matches!(order, ColumnOrder::TYPE_DEFINED_ORDER(_));
    match metadata.file_metadata().column_orders() {
        Some(orders) if orders.iter().all(is_usual) => Ok(()),
        _ => Err(ArchiveError::Form("another order of values than an archive")),
    }
}

/// Refuses what readers use to skip rows, but for statistics, which are checked later, and pages that not all of them find at one place.
fn check_columns(group: &RowGroupMetaData) -> Result<()> {
    let has_index = |column: &ColumnChunkMetaData| {
        column.bloom_filter_offset().is_some()
            || column.column_index_offset().is_some()
            || column.offset_index_offset().is_some()
            || column.file_path().is_some()
            || column.index_page_offset().is_some()
    };
    // Some readers begin at the dictionary, others at the smaller offset.
    let is_elsewhere = |column: &ColumnChunkMetaData| {
        let dictionary = column.dictionary_page_offset();
        dictionary.is_some_and(|at| at < 4 || at >= column.data_page_offset())
            || column.num_values() != group.num_rows()
    };
    if group.sorting_columns().is_some() || group.columns().iter().any(is_elsewhere) {
        return Err(ArchiveError::Form(
            "row groups that readers understand in several ways",
        ));
    }
    match group.columns().iter().any(has_index) {
        true => Err(ArchiveError::Form(
            "an index or a column elsewhere, which an archive does not have",
        )),
        false => Ok(()),
    }
}

fn read_group(
    group: &dyn RowGroupReader,
    log: &LogName,
    take: &mut impl FnMut(ArchivedEvent) -> Result<()>,
) -> Result<()> {
    let readers = (0..COUNT).map(|index| Ok(Column::new(index, group)?));
    let mut columns: Vec<Column> = readers.collect::<Result<_>>()?;
    let mut rows = 0;
    loop {
        let mut read = None;
        for column in &mut columns {
            let count = column.read()?;
            if *read.get_or_insert(count) != count {
                return Err(ArchiveError::Form("columns of different lengths"));
            }
        }
        let read = read.unwrap_or_default();
        if read == 0 {
            break;
        }
        rows += read as u64;
        for _ in 0..read {
            take(next_event(&mut columns, log)?)?;
        }
    }
    if rows.cast_signed() != group.metadata().num_rows() {
        return Err(ArchiveError::Form("another number of rows than it states"));
    }
    for (column, metadata) in columns.iter().zip(group.metadata().columns()) {
        column.check_statistics(metadata.statistics())?;
    }
    Ok(())
}

/// The event of the next row that was read.
fn next_event(columns: &mut [Column], log: &LogName) -> Result<ArchivedEvent> {
    let seq = columns[0].next();
    let seq = seq.and_then(|value| u64::try_from(value.integer()?).ok());
    let seq = seq.ok_or(ArchiveError::Form("a position that is none"))?;
    let refused = |problem| ArchiveError::Event { seq, problem };
    let no_value = || refused("has a value that no event has");
    let (mut content_hash, mut content_salt, mut redacted) = (None, None, None);
    let mut texts = vec![String::new(); EventField::ALL.len()];
    for (column, field) in columns[1..].iter_mut().zip(EventField::ALL) {
        let Some(value) = column.next() else { continue };
        match columns::kind(*field) {
            Kind::Hash => {
                let bytes = value.bytes().and_then(|bytes| bytes.try_into().ok());
                content_hash = bytes.map(ContentHash::from_bytes);
            }
            Kind::Salt => content_salt = value.bytes().and_then(StoredSalt::read),
            Kind::Flag => redacted = value.flag(),
            kind => texts[*field as usize] = text(kind, &value).ok_or_else(no_value)?,
        }
    }
    let event = ArchivedEvent {
        seq,
        content_hash: content_hash.ok_or_else(no_value)?,
        content_salt: content_salt.ok_or_else(no_value)?,
        redacted: redacted.ok_or_else(no_value)?,
        texts,
    };
    let computed = event.content_salt.content_hash_of(&event.fields(), log);
    match computed == Some(event.content_hash) {
        true => Ok(event),
        false => Err(refused("does not have its content hash")),
    }
}

/// The canonical JSON of a value. Every value has another one, so the hash of the text proves the value.
fn text(kind: Kind, value: &Value) -> Option<String> {
    match kind {
        Kind::Time => {
            let time = Timestamp::from_micros(value.integer()?);
            let is_time =
                time == time.truncated_to_millis() && (Timestamp::MIN..Timestamp::MAX).contains(&time);
            is_time.then(|| format!("\"{time}\""))
        }
        Kind::Json => {
            let text = str::from_utf8(value.bytes()?).ok()?;
            // Without it, the field would be one that the event does not have.
            (!text.is_empty()).then(|| text.to_owned())
        }
        _ => {
            let mut text = String::new();
            canonical::write_string(&mut text, str::from_utf8(value.bytes()?).ok()?);
            Some(text)
        }
    }
}

/// A value of a column.
#[derive(Clone)]
enum Value {
    Integer(i64),
    Bytes(ByteArray),
    Flag(bool),
}

impl Value {
    fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(value) => Some(value.data()),
            _ => None,
        }
    }

    fn flag(&self) -> Option<bool> {
        match self {
            Self::Flag(value) => Some(*value),
            _ => None,
        }
    }
}

/// A column of a row group, and the values of the rows that were read and not taken yet.
struct Column {
    reader: ColumnReader,
    name: String,
    is_required: bool,
    has_statistics: bool,
    rows: std::vec::IntoIter<Option<Value>>,
    /// The least and the greatest value so far.
    least: Option<Value>,
    greatest: Option<Value>,
    nulls: u64,
}

impl Column {
    fn new(index: usize, group: &dyn RowGroupReader) -> Result<Self, parquet::errors::ParquetError> {
        let field = index.checked_sub(1).map(|index| EventField::ALL[index]);
        Ok(Self {
            reader: group.get_column_reader(index)?,
            name: field.map_or_else(|| columns::SEQ.to_owned(), columns::name),
            is_required: field.is_none_or(columns::is_required),
            has_statistics: field.is_none_or(columns::has_statistics),
            rows: Vec::new().into_iter(),
            least: None,
            greatest: None,
            nulls: 0,
        })
    }

    /// Reads the next rows. Returns how many.
    fn read(&mut self) -> Result<usize> {
        let is_required = self.is_required;
        let rows = match &mut self.reader {
            ColumnReader::Int64ColumnReader(reader) => {
                read::<Int64Type>(reader, is_required, |value| Value::Integer(*value))
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                read::<ByteArrayType>(reader, is_required, |value| Value::Bytes(value.clone()))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                read::<FixedLenByteArrayType>(reader, is_required, |value| Value::Bytes(value.clone().into()))
            }
            ColumnReader::BoolColumnReader(reader) => {
                read::<BoolType>(reader, is_required, |value| Value::Flag(*value))
            }
            _ => return Err(ArchiveError::Form("other columns than an archive")),
        }?;
        if self.has_statistics {
            rows.iter().for_each(|row| self.count(row.as_ref()));
        }
        let count = rows.len();
        self.rows = rows.into_iter();
        Ok(count)
    }

    fn next(&mut self) -> Option<Value> {
        self.rows.next().flatten()
    }

    fn count(&mut self, value: Option<&Value>) {
        let Some(value) = value else {
            self.nulls += 1;
            return;
        };
        let is_beyond = |one: &Value, other: &Value| match (one, other) {
            (Value::Integer(one), Value::Integer(other)) => one > other,
            (one, other) => one.bytes() > other.bytes(),
        };
        if self.least.as_ref().is_none_or(|least| is_beyond(least, value)) {
            self.least = Some(value.clone());
        }
        if self
            .greatest
            .as_ref()
            .is_none_or(|greatest| is_beyond(value, greatest))
        {
            self.greatest = Some(value.clone());
        }
    }

    /// A reader skips the row groups whose statistics say that they have no value that it looks for.
    fn check_statistics(&self, stated: Option<&Statistics>) -> Result<()> {
        let is_right = match stated {
            None => !self.has_statistics,
            Some(_) if !self.has_statistics => false,
            Some(Statistics::Int64(stated)) => {
                let (least, greatest) = (self.least.as_ref(), self.greatest.as_ref());
                stated.min_opt().copied() == least.and_then(Value::integer)
                    && stated.max_opt().copied() == greatest.and_then(Value::integer)
                    && stated.null_count_opt() == Some(self.nulls)
            }
            // Long texts are cut: the first one is a prefix, the other one is greater.
            Some(Statistics::ByteArray(stated)) => {
                let (least, greatest) = (self.least.as_ref(), self.greatest.as_ref());
                let least = least.and_then(Value::bytes).unwrap_or_default();
                let greatest = greatest.and_then(Value::bytes);
                // Readers answer MIN and MAX with exact ones.
                let (min, max) = (stated.min_opt(), stated.max_opt());
                let is_exact = (!stated.min_is_exact() || min.map(ByteArray::data) == Some(least))
                    && (!stated.max_is_exact() || max.map(ByteArray::data) == greatest);
                is_exact
                    && stated.min_opt().is_none_or(|stated| stated.data() <= least)
                    && stated
                        .max_opt()
                        .is_none_or(|stated| Some(stated.data()) >= greatest)
                    && stated.null_count_opt() == Some(self.nulls)
            }
            Some(_) => false,
        };
        match is_right {
            true => Ok(()),
            false => Err(ArchiveError::Statistics(self.name.clone())),
        }
    }
}

fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    is_required: bool,
    value: impl Fn(&T::T) -> Value,
) -> Result<Vec<Option<Value>>> {
    let (mut values, mut levels) = (Vec::with_capacity(BATCH_ROWS), Vec::new());
    reader.read_records(BATCH_ROWS, Some(&mut levels), None, &mut values)?;
    let mut values = values.iter().map(value);
    if is_required {
        return Ok(values.map(Some).collect());
    }
    Ok(levels
        .into_iter()
        .map(|level| match level {
            0 => None,
            _ => values.next(),
        })
        .collect())
}
