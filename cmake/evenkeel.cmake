# The words our CMakeLists.txt files are written in.
include(GoogleTest)

# evenkeel_library(<folder> [SOURCES …] [TESTS …] [DEPENDS <folder>…] [LINKS <target>…] [TEST_DEPENDS <folder>…])
#
# Library `evenkeel_<folder>` and, where there are tests, the binary `<folder>_test` known to ctest.
# DEPENDS names folders of src/; LINKS names third-party targets; TEST_DEPENDS is for the tests alone.
# A folder without sources is a library of headers.
function(evenkeel_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;TESTS;DEPENDS;LINKS;TEST_DEPENDS")
  evenkeel_refuse_leftovers(evenkeel_library "${arg_UNPARSED_ARGUMENTS}")
  list(TRANSFORM arg_DEPENDS PREPEND evenkeel_)
  set(library evenkeel_${name})
  if(arg_SOURCES)
    add_library(${library} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(${library} INTERFACE)
    set(scope INTERFACE)
  endif()
  evenkeel_unite(${arg_SOURCES} TARGET ${library})
  target_include_directories(${library} ${scope} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${library} ${scope} ${arg_DEPENDS} ${arg_LINKS})
  if(arg_TESTS)
    evenkeel_test(${name}_test LABEL unit SOURCES ${arg_TESTS} DEPENDS ${name} ${arg_TEST_DEPENDS})
  endif()
endfunction()

# evenkeel_test(<binary> [LABEL <label>] SOURCES … [DEPENDS <folder>…] [LINKS <target>…])
#
# A GoogleTest binary, run from the root of the tree so that tests open `scenarios/…` as users do.
# Tests are listed when ctest starts: a build never runs what it built.
function(evenkeel_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL" "SOURCES;DEPENDS;LINKS")
  evenkeel_refuse_leftovers(evenkeel_test "${arg_UNPARSED_ARGUMENTS}")
  list(TRANSFORM arg_DEPENDS PREPEND evenkeel_)
  add_executable(${name} ${arg_SOURCES})
  evenkeel_unite(${arg_SOURCES} TARGET ${name})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} ${arg_LINKS} GTest::gtest GTest::gtest_main)
  if(NOT EVENKEEL_SANITIZERS)
    # What is tested is optimised, the tests need not be: they compile in half the time.
    target_compile_options(${name} PRIVATE -O1)
  endif()
  set(properties)
  if(arg_LABEL)
    set(properties PROPERTIES LABELS ${arg_LABEL})
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                       DISCOVERY_TIMEOUT 60 ${properties})
endfunction()

# evenkeel_program(<name> SOURCES … [DEPENDS <folder>…] [LINKS <target>…])
#
# An executable at the top of the build directory: build/release/<name>.
function(evenkeel_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;LINKS")
  evenkeel_refuse_leftovers(evenkeel_program "${arg_UNPARSED_ARGUMENTS}")
  list(TRANSFORM arg_DEPENDS PREPEND evenkeel_)
  add_executable(${name} ${arg_SOURCES})
  evenkeel_unite(${arg_SOURCES} TARGET ${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} ${arg_LINKS})
endfunction()

# evenkeel_embed(<target> NAME <name> FILES <file>…)
#
# Puts the files into the target, which must have sources. Code sees them by
#   #include "embedded/<name>.h"
#   for (const EmbeddedFile& file : embedded::<name>::files()) …   // by name, without the directory
function(evenkeel_embed target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME" "FILES")
  evenkeel_refuse_leftovers(evenkeel_embed "${arg_UNPARSED_ARGUMENTS}")
  set(root ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded)
  set(stem ${root}/embedded/${arg_NAME})
  set(files)
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND files ${file})
  endforeach()
  add_custom_command(
    OUTPUT ${stem}.cpp ${stem}.h
    COMMAND ${PROJECT_SOURCE_DIR}/tools/embed --name ${arg_NAME} --stem ${stem} ${files}
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/tools/embed
    COMMENT "Embedding ${arg_NAME}"
    VERBATIM)
  target_sources(${target} PRIVATE ${stem}.cpp ${stem}.h)
  target_include_directories(${target} PUBLIC ${root})
endfunction()

# evenkeel_unite(<source>… TARGET <target>)
#
# With EVENKEEL_UNITE, sources of a target whose unnamed namespaces do not clash are compiled together. Groups are named
# after the target, since a source that two targets of a folder compile has one group in both.
function(evenkeel_unite)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET" "")
  list(LENGTH arg_UNPARSED_ARGUMENTS count)
  if(NOT EVENKEEL_UNITE OR count LESS 2)
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/unity_groups)
  execute_process(
    COMMAND ${PROJECT_SOURCE_DIR}/tools/unity_groups ${EVENKEEL_UNITE} ${arg_UNPARSED_ARGUMENTS}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    OUTPUT_VARIABLE lines
    OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE ";" "|" lines "${lines}")
  string(REPLACE "\n" ";" lines "${lines}")
  set(number 0)
  foreach(line IN LISTS lines)
    string(REPLACE "|" ";" sources "${line}")
    math(EXPR number "${number} + 1")
    set_source_files_properties(${sources} PROPERTIES UNITY_GROUP ${arg_TARGET}_${number})
  endforeach()
  set_target_properties(${arg_TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

function(evenkeel_refuse_leftovers caller leftovers)
  if(leftovers)
    message(FATAL_ERROR "${caller}: no keyword for: ${leftovers}")
  endif()
endfunction()
