# dpboost: build, test and show. `make demo` and `make check` work on a fresh Debian 12; the rest is ordinary PGXS.

CORE_SRCS := $(wildcard src/base/*.cpp src/dataset/*.cpp src/privacy/*.cpp src/mechanism/*.cpp src/model/*.cpp src/learner/*.cpp)
BUILD ?= build
CORE_CXXFLAGS = -std=c++17 -O2 -g -Wall -Wextra -Wshadow -Werror -ffp-contract=off -fvisibility=hidden -fPIC -Isrc -isystem /usr/include/eigen3
CORE_LIBS = -lsodium -lpthread
SAN_FLAGS = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

UNIT_SRCS := $(shell find test/unit test/statistical -name '*_test.cpp')

# $(1) flavour, $(2) extra flags
define flavour
$(BUILD)/$(1)/%.o: %.cpp
	@mkdir -p $$(@D)
	$$(CXX) $$(CORE_CXXFLAGS) $(2) -Itest -MMD -MP -c $$< -o $$@
$(BUILD)/$(1)/unit_tests: $(CORE_SRCS:%.cpp=$(BUILD)/$(1)/%.o) $(UNIT_SRCS:%.cpp=$(BUILD)/$(1)/%.o)
	$$(CXX) $(2) $$^ -o $$@ -lgtest -lgtest_main $$(CORE_LIBS)
-include $(CORE_SRCS:%.cpp=$(BUILD)/$(1)/%.d) $(UNIT_SRCS:%.cpp=$(BUILD)/$(1)/%.d)
endef
$(eval $(call flavour,plain,))
$(eval $(call flavour,asan,$(SAN_FLAGS)))

.PHONY: unit unit-asan
unit: $(BUILD)/plain/unit_tests
	$< $(UNIT_ARGS)
unit-asan: $(BUILD)/asan/unit_tests
	$< $(UNIT_ARGS)
