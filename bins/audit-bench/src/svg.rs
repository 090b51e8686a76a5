//! Line charts as SVG, without a library: a few axes and lines are all that is needed.

use std::fmt::Write;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 200.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
const COLORS: &[&str] = &[
    "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2", "#7f7f7f",
    "#bcbd22",
];

/// How values become places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// From zero.
    Linear,
    /// From one power of ten to another.
    Logarithmic,
}

#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

#[derive(Debug)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) x_title: &'static str,
    pub(crate) y_title: &'static str,
    pub(crate) x_scale: Scale,
    pub(crate) y_scale: Scale,
    pub(crate) series: Vec<Series>,
}

/// One direction of a chart.
struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Axis {
    fn new(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let usable = values.filter(|value| value.is_finite() && (scale == Scale::Linear || *value > 0.0));
        let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if low > high {
            let low = if scale == Scale::Linear { 0.0 } else { 1.0 };
            return Self {
                scale,
                low,
                high: low + 10.0,
            };
        }
        match scale {
            Scale::Linear => {
                let step = step(high.max(f64::MIN_POSITIVE));
                Self {
                    scale,
                    low: 0.0,
                    high: (high / step).ceil() * step,
                }
            }
            Scale::Logarithmic => {
                let low = 10_f64.powf(low.log10().floor());
                let high = 10_f64.powf(high.log10().ceil());
                Self {
                    scale,
                    low,
                    high: if high > low { high } else { low * 10.0 },
                }
            }
        }
    }

    /// From 0 at the low end to 1 at the high end; none for what has no place.
    fn place(&self, value: f64) -> Option<f64> {
        match self.scale {
            Scale::Linear => Some((value - self.low) / (self.high - self.low)),
            Scale::Logarithmic if value > 0.0 => {
                Some((value / self.low).log10() / (self.high / self.low).log10())
            }
            Scale::Logarithmic => None,
        }
    }

    fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Linear => {
                let step = step(self.high);
                let count = (self.high / step).round() as u32;
                (0..=count).map(|index| f64::from(index) * step).collect()
            }
            Scale::Logarithmic => {
                let count = (self.high / self.low).log10().round() as i32;
                (0..=count).map(|index| self.low * 10_f64.powi(index)).collect()
            }
        }
    }
}

/// A round distance between ticks, such that there are four to ten of them.
fn step(high: f64) -> f64 {
    let magnitude = 10_f64.powf(high.log10().floor());
    let steps = [0.1, 0.2, 0.5, 1.0].map(|part| part * magnitude);
    let found = steps.into_iter().find(|step| high / step <= 10.0);
    found.unwrap_or(magnitude)
}

fn label(value: f64) -> String {
    let (divided, unit) = match value {
        value if value >= 1e6 => (value / 1e6, "M"),
        value if value >= 1e3 => (value / 1e3, "k"),
        value => (value, ""),
    };
    let digits = if divided < 1.0 { 3 } else { 1 };
    let text = format!("{divided:.digits$}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    format!("{}{unit}", if short.is_empty() { "0" } else { short })
}

impl Chart {
    /// As a file.
    pub(crate) fn svg(&self) -> Result<String, std::fmt::Error> {
        let points = || {
            self.series
                .iter()
                .flat_map(|series| series.points.iter().copied())
        };
        let x = Axis::new(self.x_scale, points().map(|(x, _)| x));
        let y = Axis::new(self.y_scale, points().map(|(_, y)| y));
        let mut out = String::new();
        writeln!(
            out,
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" fill="#222">"##
        )?;
        writeln!(out, r##"<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>"##)?;
        writeln!(
            out,
            r#"<text x="{LEFT}" y="24" font-size="15">{}</text>"#,
            escaped(&self.title)
        )?;
        self.write_axes(&x, &y, &mut out)?;
        for (index, series) in self.series.iter().enumerate() {
            write_series(series, index, &x, &y, &mut out)?;
        }
        writeln!(out, "</svg>")?;
        Ok(out)
    }

    fn write_axes(&self, x: &Axis, y: &Axis, out: &mut String) -> std::fmt::Result {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for tick in x.ticks() {
            let Some(place) = x.place(tick) else { continue };
            let at = LEFT + place * (right - LEFT);
            writeln!(
                out,
                r##"<path d="M{at:.1} {TOP}V{bottom}" stroke="#e4e4e4"/><text x="{at:.1}" y="{}" text-anchor="middle">{}</text>"##,
                bottom + 18.0,
                label(tick)
            )?;
        }
        for tick in y.ticks() {
            let Some(place) = y.place(tick) else { continue };
            let at = bottom - place * (bottom - TOP);
            writeln!(
                out,
                r##"<path d="M{LEFT} {at:.1}H{right}" stroke="#e4e4e4"/><text x="{}" y="{:.1}" text-anchor="end">{}</text>"##,
                LEFT - 6.0,
                at + 4.0,
                label(tick)
            )?;
        }
        writeln!(
            out,
            r#"<text x="{}" y="{}" text-anchor="middle">{}</text>"#,
            (LEFT + right) / 2.0,
            HEIGHT - 12.0,
            escaped(self.x_title)
        )?;
        let middle = (TOP + bottom) / 2.0;
        writeln!(
            out,
            r#"<text x="18" y="{middle}" text-anchor="middle" transform="rotate(-90 18 {middle})">{}</text>"#,
            escaped(self.y_title)
        )
    }
}

fn write_series(series: &Series, index: usize, x: &Axis, y: &Axis, out: &mut String) -> std::fmt::Result {
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let color = COLORS[index % COLORS.len()];
    let mut path = String::new();
    for (point_x, point_y) in &series.points {
        let (Some(place_x), Some(place_y)) = (x.place(*point_x), y.place(*point_y)) else {
            continue;
        };
        let (at_x, at_y) = (LEFT + place_x * (right - LEFT), bottom - place_y * (bottom - TOP));
        let command = if path.is_empty() { 'M' } else { 'L' };
        write!(path, "{command}{at_x:.1} {at_y:.1}")?;
        writeln!(
            out,
            r#"<circle cx="{at_x:.1}" cy="{at_y:.1}" r="2.5" fill="{color}"/>"#
        )?;
    }
    writeln!(
        out,
        r#"<path d="{path}" fill="none" stroke="{color}" stroke-width="1.5"/>"#
    )?;
    let legend_y = TOP + 10.0 + 18.0 * index as f64;
    writeln!(
        out,
        r#"<path d="M{} {}h16" stroke="{color}" stroke-width="3"/><text x="{}" y="{legend_y}">{}</text>"#,
        right + 12.0,
        legend_y - 4.0,
        right + 34.0,
        escaped(&series.name)
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        let linear = Axis::new(Scale::Linear, [3.0, 43_000.0].into_iter());
        assert_eq!((linear.low, linear.high), (0.0, 45_000.0));
        let logarithmic = Axis::new(Scale::Logarithmic, [0.3, 0.0, 80.0].into_iter());
        assert!((logarithmic.low - 0.1).abs() < 1e-9 && (logarithmic.high - 100.0).abs() < 1e-9);
        assert_eq!(logarithmic.ticks().len(), 4);
        assert_eq!(logarithmic.place(0.0), None);
    }

    #[test]
    fn labels_are_short() {
        let labels = [0.0, 0.05, 7.5, 250.0, 25_000.0, 1e6].map(label);
        assert_eq!(labels, ["0", "0.05", "7.5", "250", "25k", "1M"]);
    }

    #[test]
    fn a_chart_without_points_is_drawn_too() {
        let chart = Chart {
            title: "a < b".to_owned(),
            x_title: "x",
            y_title: "y",
            x_scale: Scale::Logarithmic,
            y_scale: Scale::Linear,
            series: vec![Series {
                name: "none".to_owned(),
                points: Vec::new(),
            }],
        };
        let svg = chart.svg().unwrap();
        assert!(svg.contains("a &lt; b") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    }
}
