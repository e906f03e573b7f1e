// SPDX-License-Identifier: Apache-2.0
// See html.h.
#include "report/html.h"

#include <ctime>

#include "base/text.h"
#include "fmt/format.h"

namespace hopyard::report {
namespace {

constexpr size_t kPieceBytes = 65536;

std::string with_minus(std::string text) {
  if (!text.empty() && text[0] == '-') text.replace(0, 1, "−");
  return text;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : base::printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : base::printable(text)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string milliseconds(double ns) {
  const std::string text = fmt::format("{:.3f}", ns / 1e6);
  return text == "-0.000" ? "0.000" : with_minus(text);
}

std::string exact_ms(std::string_view name, double ns) {
  return fmt::format("<data class=\"{}\" value=\"{}\">{}</data>", name, ns, milliseconds(ns));
}

std::string exact_ms(std::string_view name, const std::optional<double>& ns) {
  return ns ? exact_ms(name, *ns) : "–";
}

std::string utc(int64_t unix_ns) {
  if (unix_ns == 0) return "–";
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

void Output::put(std::string_view text) {
  bytes_ += text.size();
  if (!status_.ok()) return;
  pending_ += text;
  if (pending_.size() >= kPieceBytes) hand_on();
}

void Output::hand_on() {
  for (size_t at = 0; at < pending_.size() && status_.ok(); at += kPieceBytes)
    status_ = sink_(std::string_view(pending_).substr(at, kPieceBytes));
  pending_.clear();
}

absl::Status Output::finish() {
  hand_on();
  return status_;
}

Table::Table(Output& out, std::string_view classes, std::string_view caption, std::vector<Column> columns)
    : out_(out), columns_(std::move(columns)) {
  out_.put(fmt::format(
      "<div class=\"scroll\" tabindex=\"0\"><table class=\"{}\"><caption>{}</caption>\n<thead><tr>", classes,
      caption));
  for (const Column& column : columns_)
    out_.put(fmt::format("<th scope=\"col\"{}>{}</th>", column.number ? " class=\"num\"" : "", column.title));
  out_.put("</tr></thead>\n<tbody>\n");
}

Table::~Table() { out_.put("</tbody></table></div>\n"); }

void Table::row(std::string_view attributes, const std::vector<std::string>& cells) {
  out_.put(fmt::format("<tr{}>", attributes));
  for (size_t i = 0; i < cells.size(); ++i) {
    const char* classes = columns_[i].number ? " class=\"num\"" : "";
    out_.put(i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", classes, cells[i])
                    : fmt::format("<td{}>{}</td>", classes, cells[i]));
  }
  out_.put("</tr>\n");
}

}  // namespace hopyard::report
