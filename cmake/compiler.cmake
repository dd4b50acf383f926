# Compiler settings, carried by one interface target that every target of ours links privately.
find_package(Threads REQUIRED)

add_library(sg_compiler INTERFACE)
target_compile_definitions(sg_compiler INTERFACE _GNU_SOURCE)
target_compile_options(sg_compiler INTERFACE
    -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
    # Safe parts of what fast-math does; isfinite() keeps its meaning. Contraction is off so that
    # every instruction set gives the same bits; kernels that want a fused multiply-add say so.
    -fno-math-errno -fno-trapping-math -ffp-contract=off)
if(SG_WERROR)
    target_compile_options(sg_compiler INTERFACE -Werror)
endif()
if(SG_SANITIZE)
    target_compile_options(sg_compiler INTERFACE -fsanitize=${SG_SANITIZE} -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
    target_link_options(sg_compiler INTERFACE -fsanitize=${SG_SANITIZE})
endif()
