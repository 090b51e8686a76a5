/** Types of texts. */
import type { TemplateResult } from "lit";

/** A part of a sentence that is more than text, such as a time. */
export type Part = TemplateResult | string;

/** What was wrong, and what to do. */
export type Diagnosis = readonly [string, string];
