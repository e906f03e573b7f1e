// SPDX-License-Identifier: Apache-2.0
// Where things live: the XDG folders of the user, and the data that came with the programs. Makes nothing.
#pragma once

#include <string>

namespace hopyard::base {

std::string cache_dir();   // $XDG_CACHE_HOME/hopyard, else ~/.cache/hopyard
std::string state_dir();   // $XDG_STATE_HOME/hopyard, else ~/.local/state/hopyard
std::string config_dir();  // $XDG_CONFIG_HOME/hopyard, else ~/.config/hopyard
// $XDG_RUNTIME_DIR/hopyard, else the state folder: sockets.
std::string runtime_dir();

// The database where none is named: in the state folder.
std::string default_database();
// Where the daemon of that database listens unless told: one socket in the runtime folder for each database.
std::string default_socket(const std::string& database);

// The folder of the running program; sibling programs are found here.
std::string program_dir();
// The folder that holds patches/ and scenarios/: $HOPYARD_DATA, else the source tree the program was built
// from, found from the program's own place (build/bin in a checkout, or bin beside share/hopyard when
// installed).
std::string data_dir();

}  // namespace hopyard::base
