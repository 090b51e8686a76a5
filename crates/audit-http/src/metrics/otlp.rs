//! The metrics as OTLP has them in JSON (`opentelemetry.proto.metrics.v1`), for a collector that is sent metrics and does not
//! fetch them.

use prometheus::proto::{Histogram, Metric, MetricFamily, MetricType};
use serde_json::{Value, json};

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: i32 = 2;

/// The times of a collection, in nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug)]
pub struct MetricTimes {
    /// When the process began to count.
    pub start_nanos: i64,
    /// Now.
    pub now_nanos: i64,
}

/// The list `metrics` of a scope.
pub(super) fn metrics(families: &[MetricFamily], times: MetricTimes) -> Vec<Value> {
    families
        .iter()
        .filter_map(|family| metric(family, times))
        .collect()
}

/// `None` for a kind that the service does not have.
fn metric(family: &MetricFamily, times: MetricTimes) -> Option<Value> {
    let points = |value: fn(&Metric) -> f64| -> Vec<Value> {
        let point = |metric: &Metric| {
            let mut point = point(metric, times);
            point["asDouble"] = json!(value(metric));
            point
        };
        family.get_metric().iter().map(point).collect()
    };
    let data = match family.get_field_type() {
        MetricType::COUNTER => (
            "sum",
            json!({
                "aggregationTemporality": CUMULATIVE,
                "isMonotonic": true,
                "dataPoints": points(|metric| metric.get_counter().get_value()),
            }),
        ),
        MetricType::GAUGE => (
            "gauge",
            json!({"dataPoints": points(|metric| metric.get_gauge().get_value())}),
        ),
        MetricType::HISTOGRAM => {
            let histogram = |metric: &Metric| with_buckets(point(metric, times), metric.get_histogram());
            let points: Vec<Value> = family.get_metric().iter().map(histogram).collect();
            (
                "histogram",
                json!({"aggregationTemporality": CUMULATIVE, "dataPoints": points}),
            )
        }
        MetricType::SUMMARY | MetricType::UNTYPED => return None,
    };
    let (kind, data) = data;
    let name = family.name();
    Some(json!({"name": name, "description": family.help(), "unit": unit(name), kind: data}))
}

/// The unit in UCUM, which the name of a metric ends with in Prometheus; empty for counts.
fn unit(name: &str) -> &'static str {
    match name.trim_end_matches("_total").rsplit('_').next() {
        Some("seconds") => "s",
        Some("bytes") => "By",
        _ => "",
    }
}

/// A data point without its value. 64-bit numbers are texts in JSON.
fn point(metric: &Metric, times: MetricTimes) -> Value {
    let labels = metric.get_label().iter();
    let attributes: Vec<Value> = labels
        .map(|label| json!({"key": label.name(), "value": {"stringValue": label.value()}}))
        .collect();
    json!({
        "attributes": attributes,
        "startTimeUnixNano": times.start_nanos.to_string(),
        "timeUnixNano": times.now_nanos.to_string(),
    })
}

/// Prometheus counts the observations up to each bound, OTLP those between two bounds, and has one more bucket.
fn with_buckets(mut point: Value, histogram: &Histogram) -> Value {
    let finite = || {
        let buckets = histogram.get_bucket().iter();
        buckets.filter(|bucket| bucket.upper_bound().is_finite())
    };
    let mut before = 0;
    let mut counts: Vec<String> = Vec::new();
    for bucket in finite() {
        counts.push(bucket.cumulative_count().saturating_sub(before).to_string());
        before = bucket.cumulative_count();
    }
    let all = histogram.get_sample_count();
    counts.push(all.saturating_sub(before).to_string());
    point["count"] = json!(all.to_string());
    point["sum"] = json!(histogram.get_sample_sum());
    point["bucketCounts"] = json!(counts);
    point["explicitBounds"] = finite().map(|bucket| json!(bucket.upper_bound())).collect();
    point
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, IntGauge, Opts, Registry};

    #[test]
    fn each_kind_is_written_as_otlp_has_it() {
        let registry = Registry::new();
        let counter = IntCounterVec::new(Opts::new("requests", "Requests."), &["status"]).unwrap();
        let gauge = IntGauge::new("depth", "Depth.").unwrap();
        let options = HistogramOpts::new("seconds", "Time.").buckets(vec![0.1, 1.0]);
        let histogram = HistogramVec::new(options, &[]).unwrap();
        registry.register(Box::new(counter.clone())).unwrap();
        registry.register(Box::new(gauge.clone())).unwrap();
        registry.register(Box::new(histogram.clone())).unwrap();
        counter.with_label_values(&["201"]).inc_by(5);
        gauge.set(-3);
        for seconds in [0.05, 0.5, 0.6, 7.0] {
            histogram.with_label_values::<&str>(&[]).observe(seconds);
        }
        let times = MetricTimes {
            start_nanos: 1,
            now_nanos: 2,
        };
        let written = metrics(&registry.gather(), times);
        let named = |name: &str| written.iter().find(|metric| metric["name"] == name).unwrap();
        let point = &named("requests")["sum"]["dataPoints"][0];
        assert_eq!(
            (&point["asDouble"], &point["timeUnixNano"]),
            (&json!(5.0), &json!("2"))
        );
        assert_eq!(point["attributes"][0]["value"]["stringValue"], "201");
        assert_eq!(named("requests")["sum"]["isMonotonic"], true);
        assert_eq!(named("depth")["gauge"]["dataPoints"][0]["asDouble"], json!(-3.0));
        let point = &named("seconds")["histogram"]["dataPoints"][0];
        assert_eq!(point["bucketCounts"], json!(["1", "2", "1"]));
        assert_eq!(point["explicitBounds"], json!([0.1, 1.0]));
        assert_eq!(point["count"], "4");
        for (name, expected) in [("requests", ""), ("seconds", "s")] {
            assert_eq!(named(name)["unit"], expected);
        }
        assert_eq!(unit("audit_database_bytes"), "By");
        assert_eq!(unit("audit_wait_seconds_total"), "s");
    }
}
