// SPDX-License-Identifier: Apache-2.0
// See phases.h.
#include "store/phases.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hopyard::store {
namespace {

constexpr char kInitial[] = "initial";

struct Blocks {
  std::string name;
  uint32_t first = 0;
  uint32_t end = 0;  // one past the last
};

const std::string& name_of(const PlannedRow& row) {
  static const std::string initial = kInitial;
  return row.planned.phase().empty() ? initial : row.planned.phase();
}

std::vector<Blocks> blocks_of(const std::vector<PlannedRow>& planned) {
  std::vector<Blocks> all;
  for (const PlannedRow& row : planned) {
    const uint32_t block = row.planned.block();
    auto own =
        std::find_if(all.begin(), all.end(), [&](const Blocks& one) { return one.name == name_of(row); });
    if (own == all.end()) own = all.insert(all.end(), Blocks{name_of(row), block, block});
    own->first = std::min(own->first, block);
    own->end = std::max(own->end, block + 1);
  }
  return all;
}

absl::Status insert_phase(Connection& connection, int64_t campaign_no, size_t seq, const Blocks& blocks,
                          const ExtensionRow& source) {
  const absl::Status inserted =
      connection
          .prepare(
              "INSERT INTO phase (campaign_no, seq, name, first_block, blocks, file, yaml, options, "
              "yaml_sha256, added_unix_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
          .bind(campaign_no)
          .bind(uint64_t{seq})
          .bind(blocks.name)
          .bind(blocks.first)
          .bind(blocks.end - blocks.first)
          .bind(source.file)
          .bind(source.text)
          .bind(absl::StrJoin(source.options, "\n"))
          .bind(source.text_sha256)
          .bind(source.added_unix_ns)
          .run();
  if (!absl::IsAlreadyExists(inserted)) return inserted;
  return absl::AlreadyExistsError(absl::StrCat("the campaign has a phase \"", blocks.name, "\" already"));
}

}  // namespace

absl::Status insert_phases(Connection& connection, int64_t campaign_no, const CampaignRow& campaign,
                           const std::vector<PlannedRow>& planned) {
  std::vector<Blocks> all = blocks_of(planned);
  if (all.empty()) all.push_back(Blocks{kInitial});
  ExtensionRow source;
  source.added_unix_ns = campaign.submitted_unix_ns;
  for (size_t seq = 0; seq < all.size(); ++seq) {
    HOPYARD_RETURN_IF_ERROR(insert_phase(connection, campaign_no, seq, all[seq], source));
  }
  return absl::OkStatus();
}

absl::Status insert_later_phase(Connection& connection, int64_t campaign_no, const ExtensionRow& extension,
                                const std::vector<PlannedRow>& planned) {
  const std::vector<Blocks> all = blocks_of(planned);
  if (all.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat("an extension is one phase, not ", all.size()));
  }
  Statement last =
      connection.prepare("SELECT COUNT(*), MAX(first_block + blocks) FROM phase WHERE campaign_no = ?");
  HOPYARD_RETURN_IF_ERROR(last.bind(campaign_no).step().status());
  if (all[0].first != last.integer(1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("an extension begins at block ", last.integer(1), ", not ", all[0].first));
  }
  return insert_phase(connection, campaign_no, static_cast<size_t>(last.integer(0)), all[0], extension);
}

absl::StatusOr<std::vector<v1::Phase>> read_phases(Connection& connection, std::string_view campaign_id) {
  Statement select = connection.prepare(
      "SELECT phase, first_block, blocks, cells, trials, passed, failed, invalid, seed, note FROM v_phase"
      " WHERE campaign_id = ? ORDER BY seq");
  select.bind(campaign_id);
  const auto count = [&select](int column) { return static_cast<uint32_t>(select.integer(column)); };
  std::vector<v1::Phase> phases;
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) return phases;
    v1::Phase& phase = phases.emplace_back();
    phase.set_name(select.text(0));
    phase.set_first_block(count(1));
    phase.set_blocks(count(2));
    phase.set_cells(count(3));
    phase.set_trials(count(4));
    phase.set_passed(count(5));
    phase.set_failed(count(6));
    phase.set_invalid(count(7));
    uint64_t seed = 0;
    if (absl::SimpleAtoi(select.text(8), &seed)) phase.set_seed(seed);
    phase.set_note(select.text(9));
  }
}

}  // namespace hopyard::store
