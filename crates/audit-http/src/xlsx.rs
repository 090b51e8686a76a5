//! Events as a workbook of Excel: XLSX (ECMA-376, Office Open XML), a zip file with a part for each sheet.
//!
//! The workbook is written row by row and compressed at once, and what has been compressed is taken after each page of events, so that its
//! size does not matter. Texts stand in their cells (`inlineStr`) instead of in a table of all texts, and the list of sheets is the last part.
//! Nothing is a formula: a cell is a text or, if it is a time, a number in the form of a date.

use crate::csv::{EventRow, Form, UtcOffset, columns};
use audit_csv::Field;
use audit_domain::{EventJson, Timestamp};
use parking_lot::Mutex;
use std::io::{self, Write};
use std::mem;
use std::sync::Arc;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

pub(crate) const CONTENT_TYPE: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// The rows of a sheet, at most, with the one of the columns' names ("Excel specifications and limits").
const ROWS_MAX: usize = 1_048_576;
/// A sheet with so much XML gets no more rows: a zip file without its 64-bit form, which Excel does not read in a stream, has parts of 4 GiB.
const SHEET_BYTES_MAX: usize = 2 << 30;
/// The UTF-16 units of a text in a cell, at most ("Excel specifications and limits").
const CELL_UNITS_MAX: usize = 32_767;
/// 1900-03-01. Excel counts a day before it, 1900-02-29, that there was not.
const FIRST_DAY: i64 = -25_508;
/// The number of 1970-01-01: days since 1899-12-30.
const UNIX_EPOCH_DAY: i64 = 25_569;

/// The styles of cells, by their place in `cellXfs` of [`STYLES`].
const TEXT_STYLE: u8 = 1;
const TIME_STYLE: u8 = 2;

/// A sheet is the default, so that this can precede the sheets, of which there may be several.
const CONTENT_TYPES: &str = r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>"#;
const RELATIONSHIPS: &str = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
/// With `quotePrefix` Excel keeps a text as one when its cell is edited: otherwise it would make a formula of `=1+1` then.
const STYLES: &str = r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd\ hh:mm:ss.000"/></numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" quotePrefix="1"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs></styleSheet>"#;
/// The first row stays in view, and columns are wide enough for times.
const SHEET_BEGIN: &str = r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols><col min="1" max="64" width="24" customWidth="1"/></cols><sheetData>"#;

/// Why a workbook could not be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum XlsxError {
    #[error("write a zip file")]
    Zip(#[from] zip::result::ZipError),
    #[error("write a part of a zip file")]
    Part(#[from] io::Error),
    #[error("read an event")]
    Event(#[from] serde_json::Error),
    #[error("read a time of an event")]
    Time(#[from] audit_domain::TimestampError),
}

/// What has been written of the zip file and not yet taken.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A workbook that is being written.
pub(crate) struct Workbook {
    zip: ZipWriter<StreamWriter<Written>>,
    written: Written,
    pub(crate) form: Form,
    /// The number of sheets; the last is being written.
    sheets: usize,
    /// The rows and the bytes of the last sheet.
    rows: usize,
    bytes: usize,
    rows_max: usize,
}

impl Workbook {
    /// An empty one, with the time zone and the labels of `form`.
    pub(crate) fn new(form: Form) -> Self {
        let written = Written::default();
        Self {
            zip: ZipWriter::new_stream(written.clone()),
            written,
            form,
            sheets: 0,
            rows: 0,
            bytes: 0,
            rows_max: ROWS_MAX,
        }
    }

    /// Adds the rows of `events`, after the last ones the end, and returns what is ready of the file.
    pub(crate) fn write(&mut self, events: &[EventJson], is_last: bool) -> Result<Vec<u8>, XlsxError> {
        if self.sheets == 0 {
            self.begin()?;
        }
        for event in events {
            if self.rows == self.rows_max || self.bytes > SHEET_BYTES_MAX {
                self.end_sheet()?;
                self.begin_sheet()?;
            }
            let row = EventRow::read(event)?;
            let (erased, summary) = (row.erased(), row.summary(&self.form, event)?);
            self.write_row(row.fields(&erased, summary.as_deref()))?;
        }
        if is_last {
            self.end()?;
        }
        Ok(mem::take(&mut *self.written.0.lock()))
    }

    fn begin(&mut self) -> Result<(), XlsxError> {
        self.write_part("[Content_Types].xml", CONTENT_TYPES)?;
        self.write_part("_rels/.rels", RELATIONSHIPS)?;
        self.write_part("xl/styles.xml", STYLES)?;
        self.begin_sheet()
    }

    fn end(&mut self) -> Result<(), XlsxError> {
        self.end_sheet()?;
        let (mut sheets, mut targets) = (String::new(), String::new());
        for number in 1..=self.sheets {
            sheets += &format!(r#"<sheet name="Events {number}" sheetId="{number}" r:id="rId{number}"/>"#);
            targets += &format!(
                r#"<Relationship Id="rId{number}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet{number}.xml"/>"#
            );
        }
        self.write_part(
            "xl/workbook.xml",
            &format!(
                r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><bookViews><workbookView/></bookViews><sheets>{sheets}</sheets></workbook>"#
            ),
        )?;
        self.write_part(
            "xl/_rels/workbook.xml.rels",
            &format!(
                r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{targets}<Relationship Id="rId0" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>"#
            ),
        )?;
        let zip = mem::replace(&mut self.zip, ZipWriter::new_stream(Written::default()));
        zip.finish()?;
        Ok(())
    }

    fn begin_sheet(&mut self) -> Result<(), XlsxError> {
        self.sheets += 1;
        (self.rows, self.bytes) = (0, 0);
        self.write_part(&format!("xl/worksheets/sheet{}.xml", self.sheets), SHEET_BEGIN)?;
        let names: Vec<&str> = columns(&self.form).collect();
        self.write_row(names.into_iter().map(Field::Text))
    }

    fn end_sheet(&mut self) -> Result<(), XlsxError> {
        let last = column_name(columns(&self.form).count() - 1);
        let rows = self.rows;
        let end = format!(r#"</sheetData><autoFilter ref="A1:{last}{rows}"/></worksheet>"#);
        Ok(self.zip.write_all(end.as_bytes())?)
    }

    /// Begins the part `name` with `xml`.
    fn write_part(&mut self, name: &str, xml: &str) -> Result<(), XlsxError> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(1));
        self.zip.start_file(name, options)?;
        self.zip
            .write_all(br#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#)?;
        Ok(self.zip.write_all(xml.as_bytes())?)
    }

    fn write_row<'a>(&mut self, fields: impl Iterator<Item = Field<'a>>) -> Result<(), XlsxError> {
        self.rows += 1;
        let row = self.rows;
        let mut xml = format!(r#"<row r="{row}">"#);
        for (column, field) in fields.enumerate() {
            let text = match field {
                Field::Text("") | Field::Value("") => continue,
                Field::Text(text) | Field::Value(text) => text,
            };
            let time = match field {
                Field::Value(text) => self.date(Timestamp::parse_rfc3339(text)?),
                Field::Text(_) => None,
            };
            let column = column_name(column);
            match time {
                Some(date) => {
                    xml += &format!(r#"<c r="{column}{row}" s="{TIME_STYLE}"><v>{date}</v></c>"#);
                }
                None => {
                    xml += &format!(
                        r#"<c r="{column}{row}" s="{TEXT_STYLE}" t="inlineStr"><is><t xml:space="preserve">"#
                    );
                    push_text(&mut xml, text);
                    xml += "</t></is></c>";
                }
            }
        }
        xml += "</row>";
        self.bytes += xml.len();
        Ok(self.zip.write_all(xml.as_bytes())?)
    }

    /// The local time as Excel counts it: in days, to the millisecond. `None` for a time that Excel has no date for.
    fn date(&self, time: Timestamp) -> Option<String> {
        const MILLIS_PER_DAY: i64 = 86_400_000;
        let millis = UtcOffset::of(&self.form.zone, time).shifted(time).as_millis();
        let day = millis.div_euclid(MILLIS_PER_DAY);
        // 10 decimals of a day are 9 µs.
        let fraction = millis.rem_euclid(MILLIS_PER_DAY) * 10_000_000_000 / MILLIS_PER_DAY;
        (day >= FIRST_DAY).then(|| format!("{}.{fraction:010}", day + UNIX_EPOCH_DAY))
    }
}

/// `A` to `Z`, then `AA` to `ZZ`.
fn column_name(column: usize) -> String {
    let letter = |place: usize| char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[place % 26]);
    match column / 26 {
        0 => letter(column).to_string(),
        more => [letter(more - 1), letter(column)].iter().collect(),
    }
}

/// Writes a text of a cell (`ST_Xstring`). A character that XML does not have is `_xHHHH_`, and so is the `_` of a text that looks like one.
/// A text too long for a cell ends in `…`.
fn push_text(xml: &mut String, text: &str) {
    let end = longest(text);
    for (at, character) in text[..end].char_indices() {
        match character {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '_' if text.as_bytes()[at..].first_chunk().is_some_and(is_escape) => xml.push_str("_x005F_"),
            '\t' | '\n' => xml.push(character),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                *xml += &format!("_x{:04X}_", u32::from(character));
            }
            _ => xml.push(character),
        }
    }
    if end < text.len() {
        xml.push('…');
    }
}

/// The length in bytes of what a cell has of a text.
fn longest(text: &str) -> usize {
    // No text has more UTF-16 units than bytes.
    if text.len() <= CELL_UNITS_MAX || text.encode_utf16().count() <= CELL_UNITS_MAX {
        return text.len();
    }
    let mut units = 0;
    let mut fits = |character: char| {
        units += character.len_utf16();
        units < CELL_UNITS_MAX
    };
    text.char_indices()
        .find_map(|(at, character)| (!fits(character)).then_some(at))
        .unwrap_or(text.len())
}

/// Whether a text is as `_xHHHH_`.
fn is_escape(text: &[u8; 7]) -> bool {
    matches!(text, [b'_', b'x', digits @ .., b'_'] if digits.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_csv::Dialect;
    use audit_domain::TimeZone;
    use std::io::{Cursor, Read};
    use zip::ZipArchive;

    fn workbook_in(zone: TimeZone) -> Workbook {
        Workbook::new(Form {
            dialect: Dialect::PLAIN,
            zone,
            labels: None,
        })
    }

    fn cell(text: &str) -> String {
        let mut xml = String::new();
        push_text(&mut xml, text);
        xml
    }

    #[test]
    fn a_text_is_xml_and_reads_as_it_was() {
        for (text, xml) in [
            ("=1+1", "=1+1"),
            ("a<b> & \"c\"", "a&lt;b&gt; &amp; \"c\""),
            ("a\tb\nc\r\u{1}", "a\tb\nc_x000D__x0001_"),
            ("_x0041_ _x004_ _x", "_x005F_x0041_ _x004_ _x"),
            ("\u{ffff}é😀", "_xFFFF_é😀"),
        ] {
            assert_eq!(cell(text), xml);
        }
    }

    #[test]
    fn a_text_has_as_many_units_as_a_cell_takes() {
        let longest = "x".repeat(CELL_UNITS_MAX);
        assert_eq!(cell(&longest), longest);
        assert_eq!(cell(&format!("{longest}x")), format!("{}…", &longest[1..]));
        // Two units each: an odd one is left.
        let wide = "😀".repeat(CELL_UNITS_MAX);
        assert_eq!(cell(&wide), format!("{}…", "😀".repeat(CELL_UNITS_MAX / 2)));
    }

    #[test]
    fn a_time_is_a_day_of_excel() {
        let workbook = workbook_in(TimeZone::fixed(3_600));
        for (time, day) in [
            ("1970-01-01T23:00:00.000Z", Some("25570.0000000000")),
            ("2026-01-15T11:00:00.001Z", Some("46037.5000000115")),
            ("1900-02-28T23:00:00Z", Some("61.0000000000")),
            ("1900-02-28T22:59:59.999Z", None),
        ] {
            let date = workbook.date(Timestamp::parse_rfc3339(time).unwrap());
            assert_eq!(date.as_deref(), day, "{time}");
        }
    }

    #[test]
    fn columns_have_letters() {
        for (column, name) in [(0, "A"), (25, "Z"), (26, "AA"), (53, "BB")] {
            assert_eq!(column_name(column), name);
        }
    }

    #[test]
    fn a_full_sheet_is_followed_by_another() {
        let event = r#"{"id":"evt_1","occurred_at":"2026-01-01T00:00:00Z","received_at":"2026-01-01T00:00:00Z","tenant_id":"t","redacted":false,"content_hash":"h"}"#;
        let event = EventJson::parse(event.to_owned()).unwrap();
        for (events, sheets) in [(0, 1), (2, 1), (3, 2), (5, 3)] {
            let mut workbook = workbook_in(TimeZone::utc());
            workbook.rows_max = 3;
            let mut file = workbook.write(&[], false).unwrap();
            for number in 1..=events {
                let event = std::slice::from_ref(&event);
                file.extend(workbook.write(event, number == events).unwrap());
            }
            if events == 0 {
                file.extend(workbook.write(&[], true).unwrap());
            }
            let mut archive = ZipArchive::new(Cursor::new(file)).unwrap();
            let mut part = |name: &str| {
                let mut text = String::new();
                archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
                text
            };
            let listed = part("xl/workbook.xml").matches("<sheet ").count();
            let targets = part("xl/_rels/workbook.xml.rels").matches("/sheet").count();
            assert_eq!((listed, targets), (sheets, sheets), "{events} events");
            let rows = (1..=sheets).map(|number| {
                let sheet = part(&format!("xl/worksheets/sheet{number}.xml"));
                let rows = sheet.matches("<row ").count();
                assert!(sheet.ends_with(&format!(r#"<autoFilter ref="A1:AB{rows}"/></worksheet>"#)));
                rows - 1
            });
            assert_eq!(rows.sum::<usize>(), events, "each has a header");
        }
    }
}
