#pragma once

#include <string>
#include <vector>

#include "papers/results.hpp"
#include "reports/write_files.hpp"

/// The formats of evaluated entries: pure functions of them.
namespace conebench::papers {

/// A table as texts: the first row is the heading. A row with published numbers has these in a row of their own
/// beneath. Names of solvers by Conebench's authors have reports::own_mark behind them.
std::vector<std::vector<std::string>> table_texts(const Table& table, const std::vector<std::vector<TableCell>>& cells);
/// What the mark means; empty where no line has it.
std::string own_legend(const Table& table);

/// "4.91 ± 3.48"; "–" for nothing.
std::string value_text(const Value& value, const Value& spread);
std::string value_text(const Published& published);

/// "holds", "fails", "fails without a known reason", "undecided", …
std::string verdict_text(const CheckResult& result);

/// What was found, in sentences with their numbers: the check's finding, or its comparisons in words. "A: The mean
/// number of iterations is 3 (claimed: below 5). B: …".
std::string measured_text(const Check& check, const CheckResult& result);

/// Why a check fails, is not comparable or is undecided; empty where nothing is to say.
std::string reason_text(const Check& check, const CheckResult& result);

/// The claim in the entry's words, what was measured, and why it does not hold.
std::string claim_sentences(const Check& check, const CheckResult& result);

/// "3 of 5 claims hold, 2 fail"; empty: it makes none.
std::string claims_text(const EntryResult& result);

/// Why numbers of a table are missing, each reason once: "PGS-NCP, 1e6: 3 of 20 cells lack a value".
std::vector<std::string> gaps_of(const Table& table, const std::vector<std::vector<TableCell>>& cells);

/// "paper LeLidec24, Fig. 13", with the location of one of its tables where that has its own; empty for a table of our
/// own.
std::string source_text(const Entry& entry, const std::string& location = {});

std::string entry_markdown(const EntryResult& result);
/// ID-table.tex (ID-table-1.tex, …), figure_files(), ID-numbers.tex with a macro for each number, and ID.tex, a
/// document of all. It and the others need reports::latex_preamble as preamble.tex.
std::vector<ReportFile> entry_latex(const EntryResult& result);
/// On which problems, when, by which build and criterion, in LaTeX.
std::string provenance_latex(const EntryResult& result);
/// One line a number: tables, points of the figures, checks.
std::string entry_csv(const EntryResult& result);
/// The entries of one paper, with each claim; JSON of the data within.
std::string paper_page(const std::string& title, const std::vector<EntryResult>& results);
std::string results_json(const std::vector<EntryResult>& results);

/// Whether a figure has a point.
bool drawn(const std::vector<Curve>& curves);
/// Of each figure: its numbers (ID-FIG.csv), a script for gnuplot that writes ID-FIG.svg and ID-FIG.pdf, and
/// ID-FIG.tex, a float of pgfplots. Figures without a point are left out.
std::vector<ReportFile> figure_files(const EntryResult& result);

}  // namespace conebench::papers
