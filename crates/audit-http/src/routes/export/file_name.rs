//! The name under which a browser saves an export.

use super::ExportFormat;
use crate::csv::UtcOffset;
use actix_web::http::header::{
    Charset, ContentDisposition, DispositionParam, DispositionType, ExtendedValue,
};
use audit_auth::Principal;
use audit_domain::{EventFilter, Facet, TimeZone};

/// The most characters of a tenant's id in a name. Most file systems take names of 255 bytes.
const TENANT_CHARS_MAX: usize = 50;

/// `Content-Disposition` (RFC 6266): a name with the tenant, if the export is of one, and the period. A name beyond ASCII is added as
/// RFC 8187 says.
pub(super) fn disposition(
    principal: &Principal,
    filter: &EventFilter,
    zone: &TimeZone,
    format: ExportFormat,
) -> ContentDisposition {
    let named = filter.values(Facet::TenantId);
    let tenant_id = match (principal, named.as_deref()) {
        (Principal::Viewer(viewer), _) => Some(viewer.tenant_id.as_str()),
        (_, Some([tenant_id])) => Some(*tenant_id),
        _ => None,
    };
    let name = file_name(tenant_id, filter, zone, format);
    let ascii = name.replace(|character: char| !character.is_ascii(), "_");
    let is_ascii = name.is_ascii();
    let mut parameters = vec![DispositionParam::Filename(ascii)];
    if !is_ascii {
        parameters.push(DispositionParam::FilenameExt(ExtendedValue {
            charset: Charset::Ext("UTF-8".to_owned()),
            language_tag: None,
            value: name.into_bytes(),
        }));
    }
    ContentDisposition {
        disposition: DispositionType::Attachment,
        parameters,
    }
}

fn file_name(tenant: Option<&str>, filter: &EventFilter, zone: &TimeZone, format: ExportFormat) -> String {
    let mut name = "audit-events".to_owned();
    if let Some(tenant_id) = tenant {
        // Nothing that is a path, or that a file system refuses.
        let letter = |character: char| match character {
            '-' | '_' | '.' => character,
            _ if character.is_alphanumeric() => character,
            _ => '_',
        };
        name.push('-');
        name.extend(tenant_id.chars().take(TENANT_CHARS_MAX).map(letter));
    }
    let day = |time| UtcOffset::of(zone, time).date(time);
    let period = match (filter.start.map(day), filter.end.map(day)) {
        (None, None) => String::new(),
        (Some(start), None) => format!("-from-{start}"),
        (None, Some(end)) => format!("-to-{end}"),
        (Some(start), Some(end)) => format!("-from-{start}-to-{end}"),
    };
    format!("{name}{period}.{format}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_domain::{Bound, Timestamp};

    fn filter(start: Option<&str>, end: Option<&str>) -> EventFilter {
        EventFilter {
            start: start.map(|text| Timestamp::parse_bound(text, Bound::Start).unwrap()),
            end: end.map(|text| Timestamp::parse_bound(text, Bound::End).unwrap()),
            ..EventFilter::default()
        }
    }

    #[test]
    fn a_name_has_tenant_and_period() {
        let named = |tenant_id: Option<&str>, filter: EventFilter, format| {
            file_name(tenant_id, &filter, &TimeZone::utc(), format)
        };
        for (tenant_id, start, end, name) in [
            (None, None, None, "audit-events.csv"),
            (Some("acme"), None, None, "audit-events-acme.csv"),
            (
                Some("acme"),
                Some("2026-01-01"),
                Some("2026-01-31"),
                "audit-events-acme-from-2026-01-01-to-2026-01-31.csv",
            ),
            (None, Some("2026-01-01"), None, "audit-events-from-2026-01-01.csv"),
            (None, None, Some("2026-01-31"), "audit-events-to-2026-01-31.csv"),
            (Some("Ärzte"), None, None, "audit-events-Ärzte.csv"),
            (
                Some("../a\\b\"c\r\n;d"),
                None,
                None,
                "audit-events-.._a_b_c___d.csv",
            ),
        ] {
            assert_eq!(named(tenant_id, filter(start, end), ExportFormat::Csv), name);
        }
        let long = "é".repeat(256);
        assert_eq!(
            named(Some(long.as_str()), filter(None, None), ExportFormat::JsonLines),
            format!("audit-events-{}.jsonl", "é".repeat(TENANT_CHARS_MAX))
        );
    }

    #[test]
    fn a_period_has_the_days_of_the_time_zone() {
        let zone = TimeZone::fixed(7_200);
        let filter = filter(Some("2026-01-31T22:00:00Z"), Some("2026-02-28T21:59:59Z"));
        for format in ExportFormat::ALL {
            assert_eq!(
                file_name(None, &filter, &zone, *format),
                format!("audit-events-from-2026-02-01-to-2026-02-28.{format}")
            );
        }
    }
}
