//! Line charts as SVG, drawn with `plotters`.

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;

const WIDTH: u32 = 820;
const HEIGHT: u32 = 440;
const LEGEND_WIDTH: u32 = 190;
const LEGEND_TOP: i32 = 52;
const LEGEND_LINE_HEIGHT: i32 = 22;
const TITLE_SIZE: u32 = 20;
const LABEL_SIZE: u32 = 15;
const LIGHT_GREY: RGBColor = RGBColor(228, 228, 228);
const DARK_GREY: RGBColor = RGBColor(34, 34, 34);
const COLORS: &[RGBColor] = &[
    RGBColor(31, 119, 180),
    RGBColor(214, 39, 40),
    RGBColor(44, 160, 44),
    RGBColor(148, 103, 189),
    RGBColor(255, 127, 14),
    RGBColor(23, 190, 207),
    RGBColor(140, 86, 75),
    RGBColor(227, 119, 194),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Starts at zero.
    Linear,
    /// Values that are not positive are left out.
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

impl Chart {
    /// The chart as an SVG document.
    pub(crate) fn svg(&self) -> anyhow::Result<String> {
        let mut svg = String::new();
        self.draw(&mut svg)
            .map_err(|error| anyhow!("cannot draw {:?}: {error}", self.title))?;
        Ok(svg)
    }

    fn draw(&self, svg: &mut String) -> Result<(), ChartError> {
        let root = SVGBackend::with_string(svg, (WIDTH, HEIGHT)).into_drawing_area();
        root.fill(&WHITE)?;
        let (plot, legend) = root.split_horizontally(WIDTH - LEGEND_WIDTH);
        self.draw_legend(&legend)?;
        let (x, y) = (self.x_range(), self.y_range());
        let (x_ticks, y_ticks) = (self.x_ticks(), self.y_ticks());
        match (self.x_scale, self.y_scale) {
            (Scale::Linear, Scale::Linear) => self.draw_plot(&plot, x, y)?,
            (Scale::Linear, Scale::Logarithmic) => {
                self.draw_plot(&plot, x, y.log_scale().with_key_points(y_ticks))?;
            }
            (Scale::Logarithmic, Scale::Linear) => {
                self.draw_plot(&plot, x.log_scale().with_key_points(x_ticks), y)?;
            }
            (Scale::Logarithmic, Scale::Logarithmic) => {
                let y = y.log_scale().with_key_points(y_ticks);
                self.draw_plot(&plot, x.log_scale().with_key_points(x_ticks), y)?;
            }
        }
        root.present()
    }

    fn draw_plot<X, Y>(&self, area: &Area<'_>, x: X, y: Y) -> Result<(), ChartError>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", TITLE_SIZE, &DARK_GREY))
            .margin(10)
            .margin_right(14)
            .x_label_area_size(48)
            .y_label_area_size(66)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .max_light_lines(0)
            .bold_line_style(LIGHT_GREY)
            .axis_style(DARK_GREY)
            .label_style(("sans-serif", LABEL_SIZE, &DARK_GREY))
            .x_desc(self.x_title)
            .y_desc(self.y_title)
            .x_label_formatter(&|value| label(*value))
            .y_label_formatter(&|value| label(*value))
            .draw()?;
        for (series, color) in self.colored_series() {
            let line = LineSeries::new(self.drawable(series), color.stroke_width(2)).point_size(3);
            chart.draw_series(line)?;
        }
        Ok(())
    }

    /// `plotters` moves its own legend into the plot, where it covers lines.
    fn draw_legend(&self, area: &Area<'_>) -> Result<(), ChartError> {
        for (index, (series, color)) in self.colored_series().enumerate() {
            let y = LEGEND_TOP + LEGEND_LINE_HEIGHT * index as i32;
            let sample = [(0, y), (18, y)];
            area.draw(&PathElement::new(sample, color.stroke_width(3)))?;
            let font = ("sans-serif", LABEL_SIZE, &DARK_GREY).into_text_style(area);
            let position = Pos::new(HPos::Left, VPos::Center);
            area.draw(&Text::new(series.name.as_str(), (26, y), font.pos(position)))?;
        }
        Ok(())
    }

    fn colored_series(&self) -> impl Iterator<Item = (&Series, &RGBColor)> {
        self.series.iter().zip(COLORS.iter().cycle())
    }

    /// The points of a series that both scales can show.
    fn drawable<'a>(&self, series: &'a Series) -> impl Iterator<Item = (f64, f64)> + use<'a> {
        let (x_scale, y_scale) = (self.x_scale, self.y_scale);
        let points = series.points.iter().copied();
        points.filter(move |(x, y)| x_scale.can_show(*x) && y_scale.can_show(*y))
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        self.series.iter().flat_map(|series| self.drawable(series))
    }

    /// A logarithmic x axis ends at its outermost points: it shows sizes and connection counts, which are few.
    fn x_range(&self) -> Range<f64> {
        let (low, high) = bounds(self.points().map(|(x, _)| x));
        match self.x_scale {
            Scale::Linear => 0.0..high,
            Scale::Logarithmic if low < high => low..high,
            Scale::Logarithmic => low / 10.0..low * 10.0,
        }
    }

    /// A linear y axis leaves room above the highest point; a logarithmic one ends at ticks.
    fn y_range(&self) -> Range<f64> {
        let (_, high) = bounds(self.points().map(|(_, y)| y));
        match (self.y_scale, self.y_ticks().as_slice()) {
            (Scale::Logarithmic, [first, .., last]) => *first..*last,
            _ => 0.0..high * 1.05,
        }
    }

    /// 1, 2 and 5 times powers of ten, from the last one below all points to the first one above them.
    fn y_ticks(&self) -> Vec<f64> {
        let (low, high) = bounds(self.points().map(|(_, y)| y));
        let (first, last) = (low.log10().floor() as i32 - 1, high.log10().ceil() as i32 + 1);
        let decades = first..=last;
        let ticks: Vec<f64> = decades
            .flat_map(|exponent| [1.0, 2.0, 5.0].map(|factor| factor * 10_f64.powi(exponent)))
            .collect();
        let start = ticks.partition_point(|tick| *tick < low).saturating_sub(1);
        let end = ticks.partition_point(|tick| *tick <= high);
        ticks[start..=end.min(ticks.len() - 1)].to_vec()
    }

    /// The x values of all points, ascending and each once.
    fn x_ticks(&self) -> Vec<f64> {
        let mut ticks: Vec<f64> = self.points().map(|(x, _)| x).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        ticks
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type ChartError = DrawingAreaErrorKind<<SVGBackend<'static> as DrawingBackend>::ErrorType>;

impl Scale {
    fn can_show(self, value: f64) -> bool {
        value.is_finite() && (self == Self::Linear || value > 0.0)
    }
}

/// The least and the greatest value; 1 and 10 when there are none or the greatest is not positive.
fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if high > 0.0 { (low, high) } else { (1.0, 10.0) }
}

/// At most one decimal and a unit: `25k`, `1M`. Values below 1 keep three decimals.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(x_scale: Scale, y_scale: Scale, points: &[(f64, f64)]) -> Chart {
        Chart {
            title: "a < b".to_owned(),
            x_title: "x",
            y_title: "y",
            x_scale,
            y_scale,
            series: vec![Series {
                name: "one & only".to_owned(),
                points: points.to_vec(),
            }],
        }
    }

    #[test]
    fn linear_axes_start_at_zero() {
        let chart = chart(Scale::Linear, Scale::Linear, &[(3.0, 100.0), (43_000.0, 20.0)]);
        assert_eq!((chart.x_range(), chart.y_range()), (0.0..43_000.0, 0.0..105.0));
    }

    #[test]
    fn logarithmic_axes_omit_zero_and_end_at_ticks() {
        let points = [(1.0, 0.3), (16.0, 0.0), (64.0, 80.0)];
        let chart = chart(Scale::Logarithmic, Scale::Logarithmic, &points);
        let y = chart.y_range();
        assert!((y.start - 0.2).abs() < 1e-9 && (y.end - 100.0).abs() < 1e-9);
        assert_eq!(chart.y_ticks().len(), 9);
        assert_eq!((chart.x_range(), chart.x_ticks()), (1.0..64.0, vec![1.0, 64.0]));
    }

    #[test]
    fn labels_are_short() {
        let labels = [0.0, 0.05, 7.5, 250.0, 25_000.0, 1e6].map(label);
        assert_eq!(labels, ["0", "0.05", "7.5", "250", "25k", "1M"]);
    }

    #[test]
    fn every_combination_of_scales_is_drawn_with_and_without_points() {
        let scales = [Scale::Linear, Scale::Logarithmic];
        for (x_scale, y_scale) in scales.into_iter().flat_map(|x| scales.map(|y| (x, y))) {
            for points in [&[][..], &[(10.0, 5.0)], &[(10.0, 5.0), (1_000.0, 0.7)]] {
                let svg = chart(x_scale, y_scale, points).svg().unwrap();
                assert!(
                    svg.contains("a &lt; b") && svg.contains("one &amp; only"),
                    "{svg}"
                );
                assert!(
                    svg.trim_end().ends_with("</svg>") && !svg.contains("NaN"),
                    "{svg}"
                );
                assert_eq!(svg.matches("<circle").count(), points.len(), "{svg}");
            }
        }
    }
}
