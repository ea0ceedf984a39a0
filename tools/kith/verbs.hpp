// The list of the command line's verbs, which main.cpp offers. A new verb is one file, verb_NAME.cpp, which
// defines the function declared here, and its line in the list.
#pragma once

#include "command_line/command_line.hpp"

#include "app/describe.hpp"
#include "placeholders.hpp"

namespace kith::tools {

verb_setup add_app;
verb_setup add_apps;
verb_setup add_calibrate;
verb_setup add_check;
verb_setup add_compare;
verb_setup add_demo;
verb_setup add_doctor;
verb_setup add_export;
verb_setup add_graph;
verb_setup add_import;
verb_setup add_machine;
verb_setup add_machines;
verb_setup add_paper;
verb_setup add_placement;
verb_setup add_policies;
verb_setup add_launch;
verb_setup add_record;
verb_setup add_repair;
verb_setup add_report;
verb_setup add_run;
verb_setup add_sim;
verb_setup add_similarity;
verb_setup add_top;
verb_setup add_what_if;
verb_setup add_why;

inline constexpr verb verbs[] = {
    {"demo", "where tasks run matters: heat on eight sockets, simulated; then programs on this machine", add_demo},
    {"app", "run a program, verify its result, report what was counted", add_app, app_subjects},
    {"apps", "the programs and their parameters", add_apps},
    {"run", "run an OpenMP program that GCC has compiled, on Kith", add_run},
    {"launch", "start a program as several processes, each a place", add_launch},
    {"record", "run a program and keep what it did in a file", add_record},
    {"calibrate", "part a program's time into computing and memory; or measure the scheduler", add_calibrate},
    {"check", "what tasks touched against what they declared", add_check},
    {"report", "a page about a recorded run: what bounds it, where the time went, and where the data was", add_report},
    {"compare", "what differs between two recorded runs, and why", add_compare},
    {"graph", "work, span, critical path and problems of a recorded run's task graph", add_graph},
    {"similarity", "which recorded programs are alike", add_similarity},
    {"top", "a recorded run in the terminal, also while it is running", add_top},
    {"export", "write a recording in the format of another tool", add_export},
    {"import", "make a recording of another tool's file", add_import},
    {"sim", "run a recording on a modelled machine, under one policy or several", add_sim},
    {"what-if", "what a task scheduler in hardware would give to a recorded program", add_what_if},
    {"why", "why a task of a recorded run ran where it did", add_why},
    {"placement", "pictures of where a program's data is, recorded or under policies side by side", add_placement},
    {"paper", "results of the papers beside the simulator's", add_paper},
    {"repair", "make a recording of what a killed run left", add_repair},
    {"policies", "the policies and their options", add_policies},
    {"doctor", "what this machine is, what is allowed, and what Kith will do", add_doctor},
    {"machine", "cores, memory nodes and distances of a machine", add_machine},
    {"machines", "the machines that recordings can be run on", add_machines},
};

}  // namespace kith::tools
