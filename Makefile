# dpboost: build, test and show. On a fresh Debian or Ubuntu, `make demo` and `make check` do all that is needed; `make`,
# `make install` and `make installcheck` are ordinary PGXS, with PG_CONFIG to choose the server. Products go to $(BUILD).

$(if $(wildcard dpboost.control),,$(error run make in the folder that holds dpboost.control))
EXTVERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" dpboost.control)
BUILD ?= build
PG_CONFIG ?= pg_config

CORE_SRCS := $(sort $(shell find src -name '*.cpp' -not -path 'src/postgres/*'))
PG_SRCS := $(sort $(shell find src/postgres -name '*.cpp'))
SQL_SECTIONS := $(shell find src/sql -name '[0-9][0-9]_*.sql' -printf '%f %p\n' | sort | cut -d ' ' -f 2)

# Never fast-math or -march=native: results must not depend on the machine, and SIMD is dispatched at run time.
# Warnings are errors for developers and CI; a user's newer compiler may know more of them.
WARNINGS = -Wall -Wextra -Wshadow $(if $(WERROR),-Werror)
# Lines and functions are enough for a backtrace; DEBUG=-g for a debugger, and a fifth more time to compile.
DEBUG ?= -g1
COMMON_CXXFLAGS = -std=c++17 $(DEBUG) $(WARNINGS) -ffp-contract=off -fPIC -Isrc -isystem /usr/include/eigen3 -MMD -MP
CORE_CXXFLAGS = -O3 -fvisibility=hidden $(COMMON_CXXFLAGS)
TEST_CXXFLAGS = $(CORE_CXXFLAGS) -Itest
CORE_LIBS = -lsodium -lpthread

# Headers that are compiled once ahead of the files below a folder. $(1) folder, $(2) header, $(3) flags of these files
define ahead
$(1)/$(notdir $(2)).gch: $(2)
	@mkdir -p $$(@D) && cp $$< $$(@:.gch=)
	$$(CXX) $(3) -x c++-header -c $$< -o $$@
endef

# These targets need no PostgreSQL, or find and install it themselves.
OWN_GOALS := demo demo-federation check check-deps unit unit-asan unit-tsan statistical bench utility sensitivity-of-auto audit purity format format-check help core \
	$(BUILD)/plain/% $(BUILD)/asan/% $(BUILD)/tsan/% $(BUILD)/bench/%
ifeq ($(filter $(OWN_GOALS),$(MAKECMDGOALS)),)

# ---- the extension -------------------------------------------------------------------------------------------------
EXTENSION = dpboost
MODULE_big = dpboost
SHLIB_EXPORTS = $(BUILD)/exports.txt
# Objects know their major version, and the library is linked anew for another one.
MAJOR := $(shell $(PG_CONFIG) --version 2>/dev/null | sed 's/[^0-9]*\([0-9]*\).*/\1/')
OBJS = $(PG_SRCS:%.cpp=$(BUILD)/ext$(MAJOR)/%.o) $(CORE_SRCS:%.cpp=$(BUILD)/plain/%.o)
DATA = $(wildcard src/sql/upgrade/dpboost--*.sql)
DATA_built = $(BUILD)/dpboost--$(EXTVERSION).sql
REGRESS = $(sort $(basename $(notdir $(wildcard sql/*.sql))))
REGRESS_OPTS = --load-extension=dpboost --encoding=UTF8 --no-locale
ISOLATION = $(sort $(basename $(notdir $(wildcard test/isolation/specs/*.spec))))
ISOLATION_OPTS = --inputdir=test/isolation --load-extension=dpboost --encoding=UTF8 --no-locale
SHLIB_LINK = -lsodium -lstdc++ -lpthread $(libpq)
EXTRA_CLEAN = $(BUILD)

PGXS := $(wildcard $(shell $(PG_CONFIG) --pgxs 2>/dev/null))
ifeq ($(PGXS),)
$(error no PostgreSQL to build for: "$(PG_CONFIG)" names no PGXS makefile. `make check-deps` installs what is missing)
endif
# PGXS's bitcode rule ignores our C++ flags, and inlining C++ into JIT code gains nothing here.
override with_llvm = no
include $(PGXS)

# PostgreSQL's headers come as system headers, so that our warnings are about our code.
EXT_CXXFLAGS = $(filter-out -O2 -g,$(CXXFLAGS)) -O2 $(COMMON_CXXFLAGS) -DDPBOOST_VERSION='"$(EXTVERSION)"' \
	-isystem $(includedir_server) -idirafter $(includedir) -idirafter /usr/include/postgresql $(CPPFLAGS)
$(eval $(call ahead,$$(BUILD)/ext$$(MAJOR),src/base/ahead.h,$$(EXT_CXXFLAGS)))
$(BUILD)/ext$(MAJOR)/src/postgres/%.o: src/postgres/%.cpp $(BUILD)/ext$(MAJOR)/ahead.h.gch
	@mkdir -p $(@D)
	$(CXX) $(EXT_CXXFLAGS) -include $(BUILD)/ext$(MAJOR)/ahead.h -c $< -o $@
$(BUILD)/ext$(MAJOR)/src/postgres/boundary/module.o: dpboost.control
$(BUILD)/exports.txt: src/postgres/boundary/exports.txt
	@mkdir -p $(@D)
	cp $< $@
# PGXS counts every file as secondary, so one that is missing makes nothing out of date: this one is written here.
$(shell mkdir -p $(BUILD); [ "$$(cat $(BUILD)/major 2>/dev/null)" = "$(MAJOR)" ] || echo $(MAJOR) >$(BUILD)/major)
dpboost$(DLSUFFIX): $(BUILD)/major
-include $(OBJS:.o=.d)

$(BUILD)/dpboost--$(EXTVERSION).sql: $(SQL_SECTIONS) src/sql/assemble.awk Makefile
	@mkdir -p $(@D)
	awk -f src/sql/assemble.awk $(SQL_SECTIONS) > $@.new && mv $@.new $@

else

WERROR := 1

# ---- core tests ----------------------------------------------------------------------------------------------------
# `unit` and `unit-asan` run the tests of test/unit, `statistical` those of test/statistical; UNIT_ARGS reaches gtest.
UNIT_SRCS := $(sort $(shell find test/unit -name '*_test.cpp'))
STATISTICAL_SRCS := $(sort $(shell find test/statistical -name '*_test.cpp'))
BENCH_SRCS := $(sort $(wildcard test/bench/*.cpp))
UTILITY_SRCS := $(sort $(wildcard test/bench/utility/*.cpp))
SAN_FLAGS = -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

# A folder as one file, see test/run/room: with sanitizers, and with ROOMS=1 (as `make check` has it) for the unit tests. $(1)
# object, $(2) files, $(3) compiler and flags, $(4) what must be there before
define room
$(1): $(2) $(4)
	test/run/room $$@ $$(filter-out %/room.cpp,$$(filter %.cpp,$$^)) -- $(3)
endef
CORE_ROOMS := $(sort $(dir $(CORE_SRCS)))
UNIT_ROOMS := $(sort $(dir $(UNIT_SRCS)))
CORE_OBJS_plain := $(CORE_SRCS:%.cpp=$(BUILD)/plain/%.o)
CORE_OBJS_tsan := $(CORE_ROOMS:%=$(BUILD)/tsan/%room.o)
CORE_OBJS_asan := $(CORE_ROOMS:%=$(BUILD)/asan/%room.o)
UNIT_OBJS_plain := $(if $(ROOMS),$(UNIT_ROOMS:%=$(BUILD)/plain/%room.o),$(UNIT_SRCS:%.cpp=$(BUILD)/plain/%.o))
UNIT_OBJS_tsan := $(UNIT_SRCS:%.cpp=$(BUILD)/tsan/%.o)
UNIT_OBJS_asan := $(UNIT_ROOMS:%=$(BUILD)/asan/%room.o)
$(foreach folder,$(CORE_ROOMS),$(eval $(call room,$(BUILD)/asan/$(folder)room.o,$(wildcard $(folder)*.cpp),$$(CXX) $$(CORE_CXXFLAGS) $(SAN_FLAGS))))
TSAN_FLAGS := -O1 -g1 -fsanitize=thread
$(foreach folder,$(CORE_ROOMS),$(eval $(call room,$(BUILD)/tsan/$(folder)room.o,$(wildcard $(folder)*.cpp),$$(CXX) $$(CORE_CXXFLAGS) $(TSAN_FLAGS))))

# $(1) flavour, $(2) extra flags, $(3) and for the tests themselves: compiling them is most of the time of a build
define flavour
$(call ahead,$(BUILD)/$(1),test/support/common_headers.h,$$(TEST_CXXFLAGS) $(2) $(3))
$(call ahead,$(BUILD)/$(1)/ahead,test/support/common_headers.h,$$(TEST_CXXFLAGS) $(2) -O2)
$(BUILD)/$(1)/test/unit/%.o: test/unit/%.cpp $(BUILD)/$(1)/common_headers.h.gch
	@mkdir -p $$(@D)
	$$(CXX) $$(TEST_CXXFLAGS) $(2) $(3) -include $(BUILD)/$(1)/common_headers.h -c $$< -o $$@
$(BUILD)/$(1)/test/statistical/%.o: test/statistical/%.cpp $(BUILD)/$(1)/ahead/common_headers.h.gch
	@mkdir -p $$(@D)
	$$(CXX) $$(TEST_CXXFLAGS) $(2) -O2 -include $(BUILD)/$(1)/ahead/common_headers.h -c $$< -o $$@
$(BUILD)/$(1)/test/%.o: test/%.cpp
	@mkdir -p $$(@D)
	$$(CXX) $$(TEST_CXXFLAGS) $(2) -c $$< -o $$@
$(BUILD)/$(1)/%.o: %.cpp
	@mkdir -p $$(@D)
	$$(CXX) $$(CORE_CXXFLAGS) $(2) -c $$< -o $$@
$(BUILD)/$(1)/libcore.a: $(CORE_OBJS_$(1))
	@mkdir -p $$(@D) && rm -f $$@
	$$(AR) rcs $$@ $$^
$(foreach folder,$(UNIT_ROOMS),$(eval $(call room,$(BUILD)/$(1)/$(folder)room.o,$(wildcard $(folder)*_test.cpp),$$(CXX) $$(TEST_CXXFLAGS) $(2) $(3) -include $(BUILD)/$(1)/common_headers.h,$(BUILD)/$(1)/common_headers.h.gch)))
$(BUILD)/$(1)/unit_tests: $(UNIT_OBJS_$(1)) $(BUILD)/$(1)/libcore.a
	$$(CXX) $(2) $$^ -o $$@ -lgtest -lgtest_main $$(CORE_LIBS)
$(BUILD)/$(1)/statistical_tests: $(STATISTICAL_SRCS:%.cpp=$(BUILD)/$(1)/%.o) $(BUILD)/$(1)/libcore.a
	$$(CXX) $(2) $$^ -o $$@ -lgtest -lgtest_main $$(CORE_LIBS)
-include $(CORE_OBJS_$(1):.o=.d) $(UNIT_OBJS_$(1):.o=.d) $(STATISTICAL_SRCS:%.cpp=$(BUILD)/$(1)/%.d)
endef
$(eval $(call flavour,plain,,-O0))
$(eval $(call flavour,asan,$(SAN_FLAGS),-O0))
$(eval $(call flavour,tsan,$(TSAN_FLAGS),-O0))
# What runs in threads, under ThreadSanitizer.
THREAD_SRCS := $(wildcard test/unit/training/federation/*_test.cpp) test/unit/base/worker_pool_test.cpp test/unit/base/fiber_test.cpp \
	test/unit/mechanism/parties/shared_noise_test.cpp test/unit/learner/threads_test.cpp
$(BUILD)/tsan/thread_tests: $(THREAD_SRCS:%.cpp=$(BUILD)/tsan/%.o) $(BUILD)/tsan/libcore.a
	$(CXX) $(TSAN_FLAGS) $^ -o $@ -lgtest -lgtest_main $(CORE_LIBS)

.PHONY: core unit unit-asan unit-tsan statistical
core: $(BUILD)/plain/libcore.a
unit: $(BUILD)/plain/unit_tests
	$< $(UNIT_ARGS)
unit-asan: $(BUILD)/asan/unit_tests
	$< $(UNIT_ARGS)
unit-tsan: $(BUILD)/tsan/thread_tests
	$< $(UNIT_ARGS)
statistical: $(BUILD)/plain/statistical_tests
	$< $(UNIT_ARGS)

# ---- the two commands, and what they are made of -------------------------------------------------------------------
.PHONY: demo demo-federation check check-deps purity format format-check bench utility sensitivity-of-auto audit help
demo:
	@test/run/demo
demo-federation:
	@test/run/demo-federation
check:
	@test/run/check
check-deps:
	@test/run/install-deps
purity:
	@test/run/layers/purity
format:
	clang-format -i $$(test/run/sources)
format-check:
	@clang-format --dry-run -Werror $$(test/run/sources)

# A benchmark is a C++ file with a main of its own (or Google Benchmark's) or a shell script; `utility*` measures accuracy.
$(BUILD)/bench/%: $(BUILD)/plain/test/bench/%.o $(BUILD)/plain/libcore.a
	@mkdir -p $(@D)
	$(CXX) $^ -o $@ -lbenchmark $(CORE_LIBS)
$(BUILD)/bench/%: $(BUILD)/plain/test/bench/utility/%.o $(BUILD)/plain/libcore.a
	@mkdir -p $(@D)
	$(CXX) $^ -o $@ $(CORE_LIBS)
-include $(patsubst %.cpp,$(BUILD)/plain/%.d,$(BENCH_SRCS) $(UTILITY_SRCS))
.SECONDARY:
bench: $(filter-out %/audit,$(BENCH_SRCS:test/bench/%.cpp=$(BUILD)/bench/%)) $(sort $(wildcard test/bench/*.sh))
	@for program in $^; do echo "== $$program"; BUILD=$(BUILD) $$program || exit 1; done
# RUNS=1: a quick look; else about half an hour. LIMIT: seconds for each program, an hour unless told.
utility: $(filter-out %_sensitivity,$(UTILITY_SRCS:test/bench/utility/%.cpp=$(BUILD)/bench/%)) $(sort $(wildcard test/bench/utility/*.sh))
	@BUILD=$(BUILD) test/run/utility $^
# What halving and doubling each number of `auto` does to its accuracy; half an hour of one core.
sensitivity-of-auto: $(BUILD)/bench/utility_sensitivity
	$(BUILD)/bench/utility_sensitivity
# The audits of `make check` with more trainings, tables and points, and their table; some minutes.
audit: $(BUILD)/bench/audit $(BUILD)/plain/statistical_tests
	$(BUILD)/bench/audit
	DPBOOST_AUDIT_TABLES=1000 DPBOOST_AUDIT_POINTS=400 $(BUILD)/plain/statistical_tests \
		--gtest_filter='Sensitivity.*:PldClosedForms.*'

help:
	@sed -n '1,2s/^# //p' Makefile
	@echo 'Others: demo-federation unit unit-asan unit-tsan statistical audit bench utility sensitivity-of-auto purity format format-check check-deps'

endif

# The core as it is delivered and tested.
$(eval $(call ahead,$$(BUILD)/plain,src/base/ahead.h,$$(CORE_CXXFLAGS)))
$(BUILD)/plain/src/%.o: src/%.cpp $(BUILD)/plain/ahead.h.gch
	@mkdir -p $(@D)
	$(CXX) $(CORE_CXXFLAGS) -include $(BUILD)/plain/ahead.h -c $< -o $@
