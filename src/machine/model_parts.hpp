// The tables of a machine's description that have files of their own; model.cpp reads the others. For model.cpp.
//
// Each function reads one table, and throws kith::error, with the file and the line, for an invalid value.
#pragma once

#include "machine/model.hpp"
#include "machine/model_section.hpp"

namespace kith {

// model_links.cpp. REQUIRES: the machine's nodes are known.
void read_distance(model_section, machine_model&);
void read_interconnect(model_section, machine_model&);

// model_chip.cpp: parts of chips that are modelled line by line.
void read_unit(model_section, machine_model&);  // REQUIRES: the machine's nodes are known
void read_line(model_section, line_costs&);
void read_energies(model_section, event_energies&);

}  // namespace kith
